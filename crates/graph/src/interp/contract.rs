//! Two-operand contractions by blocks.

use scalar::DType;

use super::layout::Layout;
use super::value::{Data, Kind, Value, store_floats, store_ints};
use crate::ContractSpec;

/// Rows, columns and depth of one block; three f64 blocks stay in the second-level cache.
const ROWS: usize = 64;
const COLS: usize = 256;
const DEPTH: usize = 128;

/// Element arithmetic of a contraction: f64 for floats, wrapping i64 for integers.
trait Ring: Copy {
    const ZERO: Self;
    fn mul_add(self, a: Self, b: Self) -> Self;
}

impl Ring for f64 {
    const ZERO: f64 = 0.0;
    fn mul_add(self, a: f64, b: f64) -> f64 {
        self + a * b
    }
}

impl Ring for i64 {
    const ZERO: i64 = 0;
    fn mul_add(self, a: i64, b: i64) -> i64 {
        self.wrapping_add(a.wrapping_mul(b))
    }
}

/// Positions of both operands and the result, by role of the label.
struct Plan {
    /// Start of each batch element: (a, b, out).
    batch: Vec<(isize, isize, isize)>,
    /// Rows: position in a and in the result.
    rows: Vec<(isize, isize)>,
    /// Columns: position in b and in the result.
    cols: Vec<(isize, isize)>,
    /// Depth: position in a and in b. A label of one operand only repeats the other.
    depth: Vec<(isize, isize)>,
}

/// A label's extent, and its stride in a, b and the result (0 where absent).
#[derive(Clone, Copy)]
struct Axis {
    len: usize,
    strides: [isize; 3],
}

fn plan(spec: &ContractSpec, a: &Layout, b: &Layout, out: &Layout) -> Plan {
    let sides = [(&spec.a, a), (&spec.b, b), (&spec.out, out)];
    let mut labels: Vec<u8> = Vec::new();
    for label in spec.out.iter().chain(&spec.a).chain(&spec.b) {
        if !labels.contains(label) {
            labels.push(*label);
        }
    }
    let mut roles: [Vec<Axis>; 4] = Default::default();
    for label in labels {
        let at = sides.map(|(labels, _)| labels.iter().position(|l| *l == label));
        let mut axis = Axis { len: 1, strides: [0; 3] };
        for (k, (_, layout)) in sides.iter().enumerate() {
            if let Some(i) = at[k] {
                axis.len = layout.shape[i];
                axis.strides[k] = layout.strides[i];
            }
        }
        let role = match at.map(|p| p.is_some()) {
            [true, true, true] => 0,
            [true, false, true] => 1,
            [false, true, true] => 2,
            _ => 3,
        };
        roles[role].push(axis);
    }
    let [batch, rows, cols, depth] = roles;
    let table = |axes: &[Axis], side: usize, offset: isize| {
        let shape = axes.iter().map(|x| x.len).collect();
        Layout { shape, strides: axes.iter().map(|x| x.strides[side]).collect(), offset }.table()
    };
    let pair = |axes: &[Axis], l: usize, r: usize| table(axes, l, 0).into_iter().zip(table(axes, r, 0)).collect();
    let starts = table(&batch, 0, a.offset).into_iter().zip(table(&batch, 1, b.offset)).zip(table(&batch, 2, out.offset));
    Plan {
        batch: starts.map(|((a, b), o)| (a, b, o)).collect(),
        rows: pair(&rows, 0, 2),
        cols: pair(&cols, 1, 2),
        depth: pair(&depth, 0, 1),
    }
}

/// One block product: the positions of its rows, columns and depth.
struct Block<'p> {
    rows: &'p [(isize, isize)],
    cols: &'p [(isize, isize)],
    depth: &'p [(isize, isize)],
}

/// Scratch for packed blocks.
struct Scratch<N> {
    a: Vec<N>,
    b: Vec<N>,
    sums: Vec<N>,
}

fn block<A: Copy, B: Copy, N: Ring>(
    blk: &Block<'_>,
    a: (&[A], isize, impl Fn(A) -> N),
    b: (&[B], isize, impl Fn(B) -> N),
    s: &mut Scratch<N>,
) {
    let (kn, cn) = (blk.depth.len(), blk.cols.len());
    s.a.clear();
    for &(row, _) in blk.rows {
        s.a.extend(blk.depth.iter().map(|&(k, _)| (a.2)(a.0[(a.1 + row + k) as usize])));
    }
    s.b.clear();
    for &(_, k) in blk.depth {
        s.b.extend(blk.cols.iter().map(|&(col, _)| (b.2)(b.0[(b.1 + col + k) as usize])));
    }
    for (sums, left) in s.sums.chunks_exact_mut(cn).zip(s.a.chunks_exact(kn)) {
        for (&x, right) in left.iter().zip(s.b.chunks_exact(cn)) {
            for (sum, &y) in sums.iter_mut().zip(right) {
                *sum = sum.mul_add(x, y);
            }
        }
    }
}

fn product<A: Copy, B: Copy, N: Ring>(plan: &Plan, a: (&[A], impl Fn(A) -> N), b: (&[B], impl Fn(B) -> N), len: usize) -> Vec<N> {
    let mut out = vec![N::ZERO; len];
    let mut s = Scratch { a: Vec::new(), b: Vec::new(), sums: Vec::new() };
    for &(a0, b0, o0) in &plan.batch {
        for rows in plan.rows.chunks(ROWS) {
            for cols in plan.cols.chunks(COLS) {
                s.sums.clear();
                s.sums.resize(rows.len() * cols.len(), N::ZERO);
                for depth in plan.depth.chunks(DEPTH) {
                    block(&Block { rows, cols, depth }, (a.0, a0, &a.1), (b.0, b0, &b.1), &mut s);
                }
                for (&(_, r), sums) in rows.iter().zip(s.sums.chunks_exact(cols.len())) {
                    for (&(_, c), &sum) in cols.iter().zip(sums) {
                        out[(o0 + r + c) as usize] = sum;
                    }
                }
            }
        }
    }
    out
}

fn to_i64(x: &Value) -> Vec<i64> {
    match x.kind() {
        Kind::Bool => x.elements::<bool>().iter().map(|&v| i64::from(v)).collect(),
        _ => x.elements::<i64>().into_owned(),
    }
}

/// Evaluates a contraction. Floats multiply and accumulate in f64 and round once to the result's dtype, which is at
/// least as exact as any accumulator dtype of the spec; integers wrap at the result's width.
pub(crate) fn contract(spec: &ContractSpec, a: &Value, b: &Value, out: DType, shape: &[usize], wide: bool) -> Value {
    if free_len(&spec.b, b, spec) < free_len(&spec.a, a, spec) {
        let swapped = ContractSpec { a: spec.b.clone(), b: spec.a.clone(), ..spec.clone() };
        return product_of(&swapped, b, a, out, shape, wide);
    }
    product_of(spec, a, b, out, shape, wide)
}

/// Elements along an operand's free labels.
fn free_len(labels: &[u8], x: &Value, spec: &ContractSpec) -> usize {
    let free = |l: &u8| spec.out.contains(l) && !(spec.a.contains(l) && spec.b.contains(l));
    labels.iter().zip(x.shape()).filter(|(l, _)| free(l)).map(|(_, n)| n).product()
}

/// [`contract`] with the longer free axes, the inner loop, in `b`.
fn product_of(spec: &ContractSpec, a: &Value, b: &Value, out: DType, shape: &[usize], wide: bool) -> Value {
    let result = Layout::dense(shape.to_vec());
    let plan = |a: &Layout, b: &Layout| plan(spec, a, b, &result);
    let (la, lb, len) = (&a.layout, &b.layout, result.len());
    let data = match (&*a.data, &*b.data) {
        (Data::F32(x), Data::F32(y)) => {
            store_floats(out, wide, product(&plan(la, lb), (x, |v| f64::from(v)), (y, |v| f64::from(v)), len))
        }
        (Data::F64(x), Data::F64(y)) => store_floats(out, wide, product(&plan(la, lb), (x, |v| v), (y, |v| v), len)),
        (Data::Int(x), Data::Int(y)) => store_ints(out, product(&plan(la, lb), (x, |v| v), (y, |v| v), len)),
        _ if out.is_float() => {
            let (x, y) = (a.to_f64s(), b.to_f64s());
            let plan = plan(&Layout::dense(a.shape().to_vec()), &Layout::dense(b.shape().to_vec()));
            store_floats(out, wide, product(&plan, (&x, |v| v), (&y, |v| v), len))
        }
        _ => {
            let (x, y) = (to_i64(a), to_i64(b));
            let plan = plan(&Layout::dense(a.shape().to_vec()), &Layout::dense(b.shape().to_vec()));
            store_ints(out, product(&plan, (&x, |v| v), (&y, |v| v), len))
        }
    };
    Value::dense(out, shape.to_vec(), data)
}
