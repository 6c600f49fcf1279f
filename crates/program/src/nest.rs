//! Loop nests over tiles.

use scalar::Combiner;
use smallvec::SmallVec;

use crate::{Instr, Reg, RegDecl};

/// A loop axis that the tile covers: the axis and how many of its points one tile takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileAxis {
    /// Loop axis.
    pub axis: usize,
    /// Points per tile.
    pub tile: usize,
}

/// Loops over tiles.
///
/// Execution: the grid is every combination of the `grid` axes, with the row and column axes among them stepped by their
/// tile; grid points run in parallel (in order on one thread when `serial`). At each grid point the stages run in order;
/// all registers are shared by the stages. A stage runs `init`, then its `inner` loops in order (each inner axis that is
/// the row or column axis is stepped by its tile), `code` at each step, then `finish` once. `init` and `finish` see a tile
/// whose inner row or column direction has extent 1: they use only registers that do not vary over it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Nest {
    /// Extent of every loop axis; [`crate::Affine::coef`] follows this order.
    pub extents: Vec<i64>,
    /// Parallel axes, outermost first. May include the row and the column axis.
    pub grid: SmallVec<[usize; 6]>,
    /// Row axis, if the tile has rows.
    pub rows: Option<TileAxis>,
    /// Column (vector) axis, if any; without one the tile has one column.
    pub cols: Option<TileAxis>,
    /// Registers of all stages.
    pub regs: Vec<RegDecl>,
    /// Stages in order.
    pub stages: Vec<Stage>,
    /// Grid points must run in order on one thread (writes that may collide).
    pub serial: bool,
}

/// One pass over the inner axes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stage {
    /// Accumulators and scan carries set to the combiner's initial state before the loops. An accumulator with index
    /// component starts at index 0.
    pub init: Vec<(Combiner, SmallVec<[Reg; 3]>)>,
    /// Sequential loop axes, outermost first.
    pub inner: SmallVec<[usize; 6]>,
    /// Runs at each step.
    pub code: Vec<Instr>,
    /// Runs once after the loops.
    pub finish: Vec<Instr>,
}
