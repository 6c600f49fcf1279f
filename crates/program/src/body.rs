//! Bodies: SSA over registers that hold tiles.
//!
//! A body runs on a *tile*: a rectangle of `rows × cols` points, where the row axis and the column axis are two of the
//! loop axes of the surrounding nest and every other axis has one fixed index. Columns are the vector direction. A tile
//! has at most [`Body::MAX_TILE`] points.

use scalar::{Combiner, DType, ScalarOp};
use smallvec::SmallVec;

/// Compute type of a register. Narrow storage is widened on load and narrowed on store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ty {
    /// One byte per element, 0 or 1.
    Bool,
    /// bool-free integers up to 32 bits signed, and u8, u16 (held sign- or zero-extended).
    I32,
    /// u32, i64; and u64 by its bits.
    I64,
    /// f16, bf16 (rounded where the program says so) and f32.
    F32,
    /// f64.
    F64,
}

impl Ty {
    /// Compute type of a stored dtype.
    pub const fn of(dtype: DType) -> Ty {
        match dtype {
            DType::Bool => Ty::Bool,
            DType::I8 | DType::U8 | DType::I16 | DType::U16 | DType::I32 => Ty::I32,
            DType::U32 | DType::I64 | DType::U64 => Ty::I64,
            DType::F8E4M3 | DType::F8E5M2 | DType::F16 | DType::BF16 | DType::F32 => Ty::F32,
            DType::F64 => Ty::F64,
        }
    }
    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            Ty::Bool => 1,
            Ty::I32 | Ty::F32 => 4,
            Ty::I64 | Ty::F64 => 8,
        }
    }
}

/// `base + Σ coef[a] · index[a]` over the loop axes of the surrounding nest, in elements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Affine {
    /// Constant term.
    pub base: i64,
    /// One coefficient per loop axis; missing trailing entries are 0.
    pub coef: SmallVec<[i64; 8]>,
}

impl Affine {
    /// Coefficient of an axis.
    pub fn at(&self, axis: usize) -> i64 {
        self.coef.get(axis).copied().unwrap_or(0)
    }
}

/// A condition `lo ≤ expr < hi`; several bounds mean all of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bound {
    /// Tested expression.
    pub expr: Affine,
    /// Least valid value.
    pub lo: i64,
    /// One past the greatest valid value.
    pub hi: i64,
}

/// Register number; index into [`Body::regs`].
pub type Reg = u16;

/// Declaration of a register.
///
/// A register varies over rows, columns, both or neither: a row-only register holds one element per row, a column-only
/// one per column, both a row-major `rows × cols` rectangle, neither a scalar. Operands of an op that vary over fewer
/// directions are broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegDecl {
    /// Element type.
    pub ty: Ty,
    /// Varies over rows.
    pub rows: bool,
    /// Varies over columns.
    pub cols: bool,
    /// Inner axes, by bit, for which it keeps a slot at every point of the whole axis rather than of the current tile, so
    /// that a later stage of the nest may read what an earlier one wrote ("resident" rows). 0: not resident.
    pub resident: u64,
}

impl RegDecl {
    /// Whether it outlives the current tile.
    pub const fn is_resident(&self) -> bool {
        self.resident != 0
    }
}

/// One instruction. `dst` registers are written once per tile execution, accumulators excepted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Instr {
    /// A constant of the register's type (bits of f32, f64, i32, i64 or 0/1).
    Const {
        /// Destination, varying over nothing.
        dst: Reg,
        /// Bits, zero-extended.
        bits: u64,
    },
    /// Integer value of an affine expression at each point.
    Index {
        /// Destination (I32 or I64).
        dst: Reg,
        /// Expression.
        expr: Affine,
    },
    /// Whether all bounds hold at each point.
    Mask {
        /// Destination (Bool).
        dst: Reg,
        /// Conditions.
        bounds: Vec<Bound>,
    },
    /// Reads a parameter at an affine index, widening to the register's type; where a bound fails, `fill` without reading.
    Load {
        /// Destination.
        dst: Reg,
        /// Parameter.
        param: u16,
        /// Element index.
        index: Affine,
        /// Conditions; empty means always.
        mask: Vec<Bound>,
        /// Bits of the fill in the register's type.
        fill: u64,
    },
    /// Reads a parameter at `base index + value of a register` (I64 element offset).
    LoadAt {
        /// Destination.
        dst: Reg,
        /// Parameter.
        param: u16,
        /// Affine part of the element index.
        index: Affine,
        /// Value-dependent part, an I64 register.
        offset: Reg,
        /// Bool register: where false, 0 without reading.
        mask: Option<Reg>,
    },
    /// Records an error (message index into the program's `checks`, and the first offending value) unless `0 ≤ value < limit`.
    /// Later instructions see the value clamped into range (0 if `limit` is 0), in `dst`.
    Check {
        /// Clamped value (I64).
        dst: Reg,
        /// Tested value (I64).
        value: Reg,
        /// Exclusive upper limit.
        limit: i64,
        /// Bool register: where false nothing is checked and `dst` is 0.
        mask: Option<Reg>,
        /// Message index.
        message: u16,
    },
    /// Writes a register to a parameter at an affine index, narrowing to the stored dtype, where all bounds hold.
    Store {
        /// Parameter.
        param: u16,
        /// Element index.
        index: Affine,
        /// Conditions; empty means always.
        mask: Vec<Bound>,
        /// Value.
        src: Reg,
    },
    /// Writes at `base index + value of a register`, combining with what is there; points in row-major order.
    StoreAt {
        /// Parameter.
        param: u16,
        /// Affine part.
        index: Affine,
        /// Value-dependent part (I64).
        offset: Reg,
        /// Bool register: where false nothing is written.
        mask: Option<Reg>,
        /// Value.
        src: Reg,
        /// `None` overwrites; else `Add`, `Mul`, `Max` or `Min`, computed in the parameter's dtype.
        combine: Option<ScalarOp>,
    },
    /// Pointwise op. `dtype` is the node's operand dtype (it decides wrapping, signedness and, for f16/bf16, the rounding
    /// of the result, when `round`); operands are registers of matching types. `Cast` reads `dtype` and gives its target.
    Op {
        /// Operation.
        op: ScalarOp,
        /// Dtype of the (last) operand, as in [`ScalarOp::result`].
        dtype: DType,
        /// Round an f16/bf16 result to its dtype (eager numerics).
        round: bool,
        /// Destination.
        dst: Reg,
        /// Operands.
        args: SmallVec<[Reg; 3]>,
    },
    /// Sets accumulators to the combiner's initial state, as a stage's `init` does, at each step of the loops.
    Init {
        /// Combination.
        combiner: Combiner,
        /// Accumulators, one per component.
        acc: SmallVec<[Reg; 3]>,
    },
    /// `acc ← combine(acc, reduction of src over the directions that src has and acc lacks)`.
    /// The accumulators were set by the stage's `init` or by [`Instr::Init`].
    Reduce {
        /// Combination. `Welford` accumulators are (mean, m2, count), `MaxSum` (max, sum), `ArgMax`/`ArgMin` (value, index).
        combiner: Combiner,
        /// Accumulators, one per component.
        acc: SmallVec<[Reg; 3]>,
        /// Operands; for `ArgMax`/`ArgMin` value and an I64 index register; when `merge`, one per component.
        src: SmallVec<[Reg; 3]>,
        /// Sources are states (partials of an earlier phase) rather than elements.
        merge: bool,
    },
    /// Inclusive scan along columns (`along_rows` false) or rows, continuing from `carry`, which is updated to the last state.
    Scan {
        /// Combination.
        combiner: Combiner,
        /// Results, one per component.
        dst: SmallVec<[Reg; 3]>,
        /// Carried state, one register per component, without the scanned direction.
        carry: SmallVec<[Reg; 3]>,
        /// Operands as for `Reduce`.
        src: SmallVec<[Reg; 3]>,
        /// Scan direction.
        along_rows: bool,
    },
    /// Accumulator tile number `which` of the surrounding [`crate::Gemm`] (epilogues only): `cols` are columns of n, `rows` of m.
    Acc {
        /// Destination, varying over rows and columns.
        dst: Reg,
        /// Product number.
        which: u16,
    },
}

impl Instr {
    /// Registers that it reads; the accumulators of a reduction and the carries of a scan count.
    pub fn reads(&self) -> SmallVec<[Reg; 6]> {
        let list = |first: &[Reg], second: &[Reg]| first.iter().chain(second).copied().collect();
        match self {
            Instr::Const { .. }
            | Instr::Index { .. }
            | Instr::Mask { .. }
            | Instr::Load { .. }
            | Instr::Acc { .. }
            | Instr::Init { .. } => list(&[], &[]),
            Instr::LoadAt { offset, mask, .. } => list(&[*offset], mask.as_slice()),
            Instr::Check { value, mask, .. } => list(&[*value], mask.as_slice()),
            Instr::Store { src, .. } => list(&[*src], &[]),
            Instr::StoreAt { offset, mask, src, .. } => list(&[*src, *offset], mask.as_slice()),
            Instr::Op { args, .. } => list(args, &[]),
            Instr::Reduce { acc, src, .. } => list(src, acc),
            Instr::Scan { carry, src, .. } => list(src, carry),
        }
    }
    /// Registers that it writes.
    pub fn writes(&self) -> SmallVec<[Reg; 6]> {
        match self {
            Instr::Const { dst, .. } | Instr::Index { dst, .. } | Instr::Mask { dst, .. } => SmallVec::from_slice(&[*dst]),
            Instr::Load { dst, .. } | Instr::LoadAt { dst, .. } | Instr::Check { dst, .. } => SmallVec::from_slice(&[*dst]),
            Instr::Op { dst, .. } | Instr::Acc { dst, .. } => SmallVec::from_slice(&[*dst]),
            Instr::Store { .. } | Instr::StoreAt { .. } => SmallVec::new(),
            Instr::Reduce { acc, .. } | Instr::Init { acc, .. } => SmallVec::from_slice(acc),
            Instr::Scan { dst, carry, .. } => dst.iter().chain(carry).copied().collect(),
        }
    }
}

/// Registers and straight-line code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Body {
    /// Register declarations.
    pub regs: Vec<RegDecl>,
    /// Instructions in order.
    pub code: Vec<Instr>,
}

impl Body {
    /// Most points of a tile.
    pub const MAX_TILE: usize = 1024;
}
