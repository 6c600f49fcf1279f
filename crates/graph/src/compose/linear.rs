//! Matrix products.

use base::Result;
use scalar::{DType, ScalarOp as S, Shape, Sym};

use super::broadcast::{bad, binary};
use super::reduce::drop_axes;
use crate::{Builder, NodeId};

/// Letters for contraction labels, one per axis of the result at most.
const LABELS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Labels by number.
pub(crate) fn labels(ids: impl IntoIterator<Item = usize>) -> String {
    ids.into_iter().map(|i| char::from(LABELS[i % LABELS.len()])).collect()
}

/// Matrix product with PyTorch's and ONNX's rules: 1-d operands are vectors, leading axes broadcast. A batch axis that one
/// side lacks, or has with extent 1, is not expanded: it is simply no label of that side. f16 and bf16 accumulate in f32.
///
/// # Errors
/// 0-d operands, inner extents or batch extents that differ, or dtypes that differ.
pub fn matmul(b: &mut Builder, x: NodeId, y: NodeId) -> Result<NodeId> {
    let acc = b.dtype(x).accumulator();
    matmul_acc(b, x, y, acc)
}

/// [`matmul`] with a chosen accumulator; 8-bit integers with i32 give i32.
///
/// # Errors
/// As [`matmul`].
pub fn matmul_acc(b: &mut Builder, x: NodeId, y: NodeId, acc: DType) -> Result<NodeId> {
    let (rx, ry) = (b.shape(x).len(), b.shape(y).len());
    if rx == 0 || ry == 0 {
        return Err(bad(b, "matmul", &[x, y], "operands need at least one axis"));
    }
    let x_core: &[usize] = if rx == 1 { &[K] } else { &[M, K] };
    let y_core: &[usize] = if ry == 1 { &[K] } else { &[K, N] };
    let out: Vec<usize> = [M, N].into_iter().filter(|l| x_core.contains(l) || y_core.contains(l)).collect();
    batched(b, "matmul", (x, x_core), (y, y_core), &out, acc)
}

/// Core labels of [`batched`]; batch axes have the labels from 3 on.
const M: usize = 0;
const N: usize = 1;
const K: usize = 2;

/// Contraction of the last axes by core labels, with broadcast batch axes before them.
fn batched(b: &mut Builder, op: &str, x: (NodeId, &[usize]), y: (NodeId, &[usize]), out: &[usize], acc: DType) -> Result<NodeId> {
    let batch_of = |b: &Builder, (id, core): (NodeId, &[usize])| -> Shape {
        b.shape(id)[..b.shape(id).len() - core.len()].iter().cloned().collect()
    };
    let (bx, by) = (batch_of(b, x), batch_of(b, y));
    let rank = bx.len().max(by.len());
    let (x_keep, y_keep) = (kept_axes(&bx, &by, rank), kept_axes(&by, &bx, rank));
    let mut operand = |(id, core): (NodeId, &[usize]), batch: &Shape, keep: &[usize]| -> Result<(NodeId, String)> {
        let first = rank - batch.len();
        let dropped: Vec<usize> = (0..batch.len()).filter(|i| !keep.contains(&(first + i))).collect();
        let id = drop_axes(b, id, &dropped)?;
        Ok((id, labels(keep.iter().map(|i| 3 + i).chain(core.iter().copied()))))
    };
    let (u, lu) = operand(x, &bx, &x_keep)?;
    let (v, lv) = operand(y, &by, &y_keep)?;
    let lo = labels((0..rank).map(|i| 3 + i).chain(out.iter().copied()));
    b.einsum(&format!("{lu},{lv}->{lo}"), u, v, acc).map_err(|e| bad(b, op, &[x.0, y.0], e))
}

/// Batch axes (numbered from the first of `rank`) that an operand labels: those that it has, except extents 1 that only
/// broadcast against the other's.
fn kept_axes(own: &Shape, other: &Shape, rank: usize) -> Vec<usize> {
    let at = |s: &Shape, i: usize| (i + s.len()).checked_sub(rank).map(|j| s[j].clone());
    let keeps = |&i: &usize| match (at(own, i), at(other, i)) {
        (None, _) => false,
        (Some(n), Some(m)) => !n.is_one() || m.is_one(),
        (Some(_), None) => true,
    };
    (0..rank).filter(keeps).collect()
}

/// x · yᵀ over the last axis of both, with broadcast batch axes before the last two.
///
/// # Errors
/// Ranks below 2, or as [`matmul`].
pub fn matmul_nt(b: &mut Builder, x: NodeId, y: NodeId) -> Result<NodeId> {
    if b.shape(x).len() < 2 || b.shape(y).len() < 2 {
        return Err(bad(b, "matmul_nt", &[x, y], "operands need two axes"));
    }
    let acc = b.dtype(x).accumulator();
    batched(b, "matmul_nt", (x, &[M, K]), (y, &[N, K]), &[M, N], acc)
}

/// x · wᵀ + bias with `w` `[out, in]`, over the last axis of x.
///
/// # Errors
/// Extents or dtypes that differ.
pub fn linear(b: &mut Builder, x: NodeId, w: NodeId, bias: Option<NodeId>) -> Result<NodeId> {
    let rank = b.shape(x).len();
    if rank == 0 || b.shape(w).len() != 2 {
        return Err(bad(b, "linear", &[x, w], "needs x with an axis and w [out, in]"));
    }
    let rows = labels((0..rank - 1).map(|i| 3 + i));
    let acc = b.dtype(x).accumulator();
    let spec = format!("{rows}{k},{n}{k}->{rows}{n}", n = labels([N]), k = labels([K]));
    let y = b.einsum(&spec, x, w, acc).map_err(|e| bad(b, "linear", &[x, w], e))?;
    match bias {
        Some(v) => binary(b, S::Add, y, v),
        None => Ok(y),
    }
}

/// Outer product of two vectors.
///
/// # Errors
/// Operands that are not vectors of one dtype.
pub fn outer(b: &mut Builder, x: NodeId, y: NodeId) -> Result<NodeId> {
    if b.shape(x).len() != 1 || b.shape(y).len() != 1 {
        return Err(bad(b, "outer", &[x, y], "needs two vectors"));
    }
    let column = Shape::from_iter([b.shape(x)[0].clone(), Sym::ONE]);
    let x = b.reshape(x, &column)?;
    binary(b, S::Mul, x, y)
}
