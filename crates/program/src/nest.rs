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
    /// Makes a grid point cover many points of one axis.
    pub sequence: Option<Sequence>,
}

/// A block of an axis that one grid point takes in order, with accumulators that live across the block: partial results of
/// a reduction over a parallel axis.
///
/// At each grid point `before` runs, then the nest's stages at each step of the block, then `after`. Accumulators that vary
/// over an inner axis are resident; `before` sets them by [`Instr::Init`], the stages reduce into them, `after` stores them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sequence {
    /// Axis of which a block is taken in order; not in the grid, stepped by its tile if it is the row or the column axis.
    pub axis: usize,
    /// Further axes, outermost first, that are taken whole and in order at each step of the block; not in the grid.
    pub within: SmallVec<[usize; 4]>,
    /// Grid axis that numbers the blocks.
    pub block: usize,
    /// Points of `axis` in a block, a multiple of its tile; the last block may have fewer.
    pub length: i64,
    /// Stages before the block.
    pub before: Vec<Stage>,
    /// Stages after the block.
    pub after: Vec<Stage>,
}

impl Stage {
    /// Points of an axis that the stage's loops cover, of `extent` in all.
    pub fn end(&self, axis: usize, extent: i64) -> i64 {
        self.ends.iter().find(|e| e.0 == axis).map_or(extent, |e| e.1)
    }
}

impl Sequence {
    /// Axes that are taken in order, outermost first.
    pub fn axes(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.axis).chain(self.within.iter().copied())
    }
}

impl Nest {
    /// All stages in the order in which their code runs.
    pub fn all_stages(&self) -> impl Iterator<Item = &Stage> {
        let sequence = self.sequence.as_slice();
        let (before, after) = (sequence.iter().flat_map(|s| &s.before), sequence.iter().flat_map(|s| &s.after));
        before.chain(&self.stages).chain(after)
    }
}

/// One pass over the inner axes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stage {
    /// Accumulators and scan carries set to the combiner's initial state before the loops. An accumulator with index
    /// component starts at index 0.
    pub init: Vec<(Combiner, SmallVec<[Reg; 3]>)>,
    /// Sequential loop axes, outermost first.
    pub inner: SmallVec<[usize; 6]>,
    /// Where the loop over an inner axis ends, if before the axis's extent.
    pub ends: SmallVec<[(usize, i64); 2]>,
    /// Runs at each step.
    pub code: Vec<Instr>,
    /// Runs once after the loops.
    pub finish: Vec<Instr>,
}
