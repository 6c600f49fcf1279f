//! Prepared code: registers with places in the arena, and steps with resolved loops.

use program::{Reg, Ty};
use scalar::{DType, ScalarOp};
use smallvec::SmallVec;

use super::mask::{Lin, Mask};
use simd::Leaf;
use simd::fold::Folds;

/// A register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegInfo {
    pub(crate) ty: Ty,
    /// Bytes of an element.
    pub(crate) size: usize,
    pub(crate) rows: bool,
    pub(crate) cols: bool,
    /// Inner axes, by bit, over which it keeps slots; 0: none.
    pub(crate) resident: u64,
    /// Dtype of the values, as far as their definition tells.
    pub(crate) dtype: DType,
    /// Byte offset of its home in the arena.
    pub(crate) home: usize,
}

/// Where a resident register's tile lies: byte offset `Σ stride · index[axis]` from its home.
#[derive(Clone, Debug)]
pub(crate) struct Resident {
    pub(crate) reg: Reg,
    pub(crate) strides: SmallVec<[(usize, usize); 4]>,
    /// Bytes from one row to the next.
    pub(crate) row_stride: usize,
}

/// Registers and code lists; shared by all threads.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) regs: Vec<RegInfo>,
    pub(crate) residents: Vec<Resident>,
    /// (register, bits) of constants.
    pub(crate) consts: Vec<(Reg, u64)>,
    /// Code lists in the order in which they were added.
    pub(crate) lists: Vec<Vec<Step>>,
    /// Bytes of a thread's arena.
    pub(crate) arena: usize,
    /// Byte offset of a tile-sized conversion buffer in the arena.
    pub(crate) temp: usize,
}

impl Prepared {
    /// Steps of all lists, a measure of work.
    pub(crate) fn steps(&self) -> usize {
        self.lists.iter().map(Vec::len).sum()
    }
}

/// How an operand moves through a destination of given directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A vector per row.
    Full,
    /// One vector for all rows.
    Shared,
    /// A scalar per row.
    PerRow,
    /// One scalar.
    Single,
}

impl Shape {
    pub(crate) fn is_vector(self) -> bool {
        matches!(self, Shape::Full | Shape::Shared)
    }
}

/// An operand of a pointwise step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    pub(crate) reg: Reg,
    pub(crate) shape: Shape,
    pub(crate) size: usize,
}

/// A pointwise step.
#[derive(Clone, Debug)]
pub(crate) struct Alu {
    pub(crate) leaf: Leaf,
    /// Runs in place on the result: wrapping or rounding to a narrow dtype.
    pub(crate) post: Option<Leaf>,
    pub(crate) dst: Reg,
    pub(crate) args: [Operand; 3],
    /// Operands are full or single only, so a dense tile is one vector.
    pub(crate) flat: bool,
    /// No operand is a vector: one element is computed per row and repeated.
    pub(crate) splat: bool,
    /// Step number of the store whose memory the result may be computed into.
    pub(crate) out: Option<usize>,
}

/// A pointwise step evaluated element by element.
#[derive(Clone, Debug)]
pub(crate) struct Generic {
    pub(crate) op: ScalarOp,
    /// Dtype of each operand.
    pub(crate) dtypes: SmallVec<[DType; 3]>,
    pub(crate) post: Option<Leaf>,
    pub(crate) dst: Reg,
    pub(crate) args: SmallVec<[Reg; 3]>,
}

/// A load or store at an affine index.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// Destination of a load, source of a store.
    pub(crate) reg: Reg,
    pub(crate) param: usize,
    /// Bytes of a stored element.
    pub(crate) size: usize,
    pub(crate) lin: Lin,
    pub(crate) mask: Mask,
    /// Directions that the access covers.
    pub(crate) rows: bool,
    pub(crate) cols: bool,
    /// Widening (load) or narrowing (store) loop.
    pub(crate) convert: Option<Leaf>,
    /// Bits of the fill (load).
    pub(crate) fill: u64,
    /// The register may stand for the memory itself (load).
    pub(crate) alias: bool,
}

/// A load or store at a computed index.
#[derive(Clone, Debug)]
pub(crate) struct Indirect {
    /// Destination of a load, source of a store.
    pub(crate) reg: Reg,
    pub(crate) param: usize,
    pub(crate) dtype: DType,
    /// Elements of the parameter.
    pub(crate) elements: u64,
    pub(crate) lin: Lin,
    pub(crate) offset: Reg,
    pub(crate) mask: Option<Reg>,
    /// Directions that the access covers.
    pub(crate) rows: bool,
    pub(crate) cols: bool,
    pub(crate) convert: Option<Leaf>,
    /// Combination with what is there (store).
    pub(crate) combine: Option<ScalarOp>,
    /// The combination's loop over a row, where stored elements are register elements.
    pub(crate) combine_row: Option<Leaf>,
    /// Offset and mask vary by row only and columns are adjacent.
    pub(crate) row_wise: bool,
}

/// A reduction or scan.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    pub(crate) loops: FoldLoops,
    /// Components that have a register.
    pub(crate) sources: usize,
    pub(crate) src: [Reg; 3],
    /// Accumulators or carries, the hidden compensation included; unused entries repeat the first.
    pub(crate) acc: [Reg; 3],
    /// Results of a scan.
    pub(crate) dst: [Reg; 3],
    /// Result components of a scan.
    pub(crate) results: usize,
    /// Directions of the source.
    pub(crate) rows: bool,
    pub(crate) cols: bool,
    /// Wraps narrow integer accumulators.
    pub(crate) post: Option<Leaf>,
}

/// [`Folds`] with a `Debug` that prints nothing.
#[derive(Clone, Copy)]
pub(crate) struct FoldLoops(pub(crate) Folds);

impl std::fmt::Debug for FoldLoops {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("loops")
    }
}

/// One prepared instruction.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Init { reg: Reg, bits: u64 },
    Index { dst: Reg, lin: Lin },
    Mask { dst: Reg, mask: Mask },
    Load(Box<Access>),
    Store(Box<Access>),
    LoadAt(Box<Indirect>),
    StoreAt(Box<Indirect>),
    Check { dst: Reg, value: Reg, limit: i64, mask: Option<Reg>, message: u16 },
    Alu(Box<Alu>),
    Generic(Box<Generic>),
    Reduce(Box<Fold>),
    Scan { fold: Box<Fold>, along_rows: bool },
    Acc { dst: Reg, which: usize },
}
