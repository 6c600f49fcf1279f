//! Fused code of a product: operands that bodies compute, and the epilogue.

use std::ops::Range;

use base::{Error, Result};
use program::{Body, Gemm, Instr, Param, Reg};
use scalar::DType;
use smallvec::SmallVec;

use super::pack::{Pack, Tables};
use super::plan::{Side, volume};
use crate::cpu::launch::Launch;

/// What happens to finished accumulators.
pub(crate) struct Epilogue {
    /// Set when the epilogue only stores the accumulators as they are: one output for each product.
    direct: SmallVec<[Direct; 2]>,
}

/// An output that a product's accumulators go to unchanged: element `base + Σ batch + stride·i + j`.
#[derive(Clone, Debug)]
pub(crate) struct Direct {
    pub(crate) param: usize,
    pub(crate) base: i64,
    pub(crate) batch: SmallVec<[i64; 4]>,
    pub(crate) stride: i64,
    /// i runs over columns and j over rows, instead of the reverse.
    pub(crate) transposed: bool,
}

impl Epilogue {
    pub(crate) fn new(gemm: &Gemm, params: &[Param], dtype: DType) -> Result<Epilogue> {
        let direct = direct_stores(gemm, params, dtype).unwrap_or_default();
        if direct.is_empty() { return Err(Error::unsupported("body")); }
        Ok(Epilogue { direct })
    }

    /// Where product `p` goes unchanged, if it does.
    pub(crate) fn direct(&self, p: usize) -> Option<&Direct> {
        self.direct.get(p)
    }

    /// Whether all accumulators go unchanged to outputs in which rows are adjacent.
    pub(crate) fn is_transposed(&self) -> bool {
        self.direct.first().is_some_and(|d| d.transposed)
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) unsafe fn run(&self, launch: &Launch<'_>, batch: &[i64], sides: (&Side, &Side), tile: (&Range<usize>, &Range<usize>), acc: *const u8, (ld, stride): (usize, usize)) {
        let _ = (launch, batch, sides, tile, acc, ld, stride);
    }
}

/// The stores of an epilogue that is nothing else, by product; `None` when it is more, or the layouts disagree.
fn direct_stores(gemm: &Gemm, params: &[Param], dtype: DType) -> Option<SmallVec<[Direct; 2]>> {
    let mut found: SmallVec<[Option<Direct>; 2]> = gemm.products.iter().map(|_| None).collect();
    let mut sources: SmallVec<[(Reg, usize); 4]> = SmallVec::new();
    for instr in &gemm.epilogue.code {
        match instr {
            Instr::Acc { dst, which } => sources.push((*dst, usize::from(*which))),
            Instr::Store { param, index, mask, src } if mask.is_empty() => {
                let which = sources.iter().find(|s| s.0 == *src)?.1;
                let slot = found.get_mut(which)?;
                let param = usize::from(*param);
                if slot.is_some() || params.get(param)?.dtype != dtype {
                    return None;
                }
                let (nb, nm) = (gemm.batch.len(), gemm.m.len());
                let row = lane_coefficient(index, nb, &gemm.m, gemm.flat_m)?;
                let col = lane_coefficient(index, nb + nm, &gemm.n, gemm.flat_n)?;
                let (m, n) = (volume(&gemm.m), volume(&gemm.n));
                let rows_adjacent = row == 1 && m != 1 && (col != 1 || n == 1);
                let stride = if rows_adjacent { col } else { row };
                if (col != 1 && row != 1) || stride < 0 {
                    return None;
                }
                let batch = (0..nb).map(|a| index.at(a)).collect();
                *slot = Some(Direct { param, base: index.base, batch, stride, transposed: rows_adjacent });
            }
            _ => return None,
        }
    }
    let all = found.into_iter().collect::<Option<SmallVec<[Direct; 2]>>>()?;
    all.iter().all(|d| d.transposed == all[0].transposed).then_some(all)
}

/// Coefficient of the flattened axes when they act as one; 1 or 0 extents count as adjacent.
fn lane_coefficient(index: &program::Affine, first: usize, extents: &[i64], flat: bool) -> Option<i64> {
    let axes: SmallVec<[usize; 4]> = (0..extents.len()).filter(|&a| extents[a] != 1).collect();
    match axes[..] {
        [] => Some(1),
        [a] if !flat || a + 1 == extents.len() => Some(index.at(first + a)),
        _ if flat => Some(index.at(first + extents.len() - 1)),
        _ => None,
    }
}

/// An operand that a body computes.
pub(crate) struct Computed {}

impl Computed {
    pub(crate) fn new(gemm: &Gemm, params: &[Param], body: &Body, result: Reg, rows: bool) -> Result<Computed> {
        let _ = (gemm, params, body, result, rows);
        Err(Error::unsupported("computed"))
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) unsafe fn pack<T: Pack>(&self, launch: &Launch<'_>, batch: &[i64], x: Range<usize>, k: Range<usize>, w: usize, out: *mut T, tables: &mut Tables) {
        let _ = (launch, batch, x, k, w, out, tables);
    }
}
