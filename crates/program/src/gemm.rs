//! Matrix products with fused packing and epilogue.

use crate::{Affine, Body, Bound, Reg, Ty};

/// `accᵖ[batch, m, n] = Σₖ aᵖ[batch, m, k] · bᵖ[batch, k, n]` for each product p, then the epilogue on the hot tile.
///
/// Each of batch, m, n, k is a list of loop axes, outermost first (a convolution has n = (height, width) and
/// k = (channel, tap row, tap column)). Axis numbering, for all [`Affine`]s: batch, then m, then n, then k; a source or
/// epilogue has coefficient 0 for axes that it does not vary over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gemm {
    /// Batch extents.
    pub batch: Vec<i64>,
    /// Row extents.
    pub m: Vec<i64>,
    /// Column extents.
    pub n: Vec<i64>,
    /// Contracted extents.
    pub k: Vec<i64>,
    /// Element type of packed operands and accumulator: F32, F64, I32 or I64 (integers wrap).
    pub ty: Ty,
    /// Products that share the loops: pairs of source numbers (a, b).
    pub products: Vec<(usize, usize)>,
    /// Operand sources.
    pub sources: Vec<PackSource>,
    /// The epilogue. Its tiles have rows along the last m axis and columns along the last n axis, or along all of n when
    /// `flat_n` (then column index is the flattened n and the coefficients of the last n axis apply to it).
    pub epilogue: Body,
    /// Every epilogue access is affine in the flattened n, so that tiles may span n axes.
    pub flat_n: bool,
    /// As `flat_n` for m.
    pub flat_m: bool,
}

/// Where a packed operand comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PackSource {
    /// A parameter read at an affine index, zero where a bound fails, converted to the GEMM's type.
    Direct {
        /// Parameter.
        param: u16,
        /// Element index.
        index: Affine,
        /// Conditions; empty means always.
        mask: Vec<Bound>,
        /// The data never changes between launches and does not vary over batch: packed panels may be kept by the launcher.
        frozen: bool,
    },
    /// A body computes the operand (fused prologue). Its tiles have columns along the last n axis (operand b) or the last
    /// k axis (operand a), rows along the last k axis (b) or the last m axis (a).
    Computed {
        /// Code; loads, ops, no reductions.
        body: Body,
        /// Result register, of the GEMM's type.
        result: Reg,
        /// As in `Direct`.
        frozen: bool,
    },
}
