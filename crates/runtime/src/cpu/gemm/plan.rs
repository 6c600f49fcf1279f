//! What one product does, with every choice that depends on its sizes.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use base::{Error, Result};
use program::{Body, Gemm, Instr, PackSource, Param, Reg};
use smallvec::SmallVec;

use super::body::{Computed, Epilogue};
use super::kernel::Kernels;
use super::pack::Pack;
use super::panels::{Elements, Panels, Recipe};
use super::skinny::{Lies, ROWS};
use super::source::Strided;

/// Most k positions of a block. Blocks depend on k alone, so that every way to run a product rounds alike.
const KC: usize = 384;
/// The same for dot products, whose sums are in as many parts as a vector has lanes.
const ALONG_KC: usize = 4096;
/// Rows and columns of a tile aim at these.
const MC: usize = 96;
const NC: usize = 128;
/// Multiply-adds below which the calling thread works alone, and the least that a task should have.
const ALONE: usize = 60_000;
const TASK: usize = 20_000;
/// Most bytes of an operand that is packed before the tiles run; larger ones are packed by each tile.
const SHARED_BYTES: usize = 64 << 20;

/// Rows (m) or columns (n): first axis number and extents.
pub(crate) struct Side {
    pub(crate) first: usize,
    pub(crate) extents: Vec<i64>,
    pub(crate) count: usize,
}

/// One packed operand.
pub(crate) struct Operand {
    pub(crate) source: Source,
    pub(crate) varies: bool,
    /// What a frozen operand packs.
    pub(crate) frozen: Option<Arc<Recipe>>,
    /// Its panels since the first launch.
    pub(crate) kept: OnceLock<Arc<Panels>>,
}

/// Where an operand's elements come from.
pub(crate) enum Source {
    Direct { param: usize, strided: Box<Strided> },
    Computed(Box<Computed>),
}

/// A prepared product. `swapped` means that kernels see the transposed problem: their rows are n and their columns m.
pub(crate) struct Product<T: 'static> {
    pub(crate) kernels: &'static Kernels<T>,
    pub(crate) batch: Vec<i64>,
    pub(crate) batches: usize,
    pub(crate) rows: Side,
    pub(crate) cols: Side,
    pub(crate) k: usize,
    /// k blocks in order.
    pub(crate) blocks: Vec<Range<usize>>,
    /// Row operands and column operands of the kernels.
    pub(crate) a: Vec<Operand>,
    pub(crate) b: Vec<Operand>,
    /// Pairs into `a` and `b`.
    pub(crate) pairs: Vec<(usize, usize)>,
    pub(crate) swapped: bool,
    /// How the column operands lie, when few rows read them there.
    pub(crate) lies: Option<Lies>,
    pub(crate) epilogue: Epilogue,
}

impl<T: Pack> Product<T> {
    /// Prepares a product of the matching type for some kernels.
    pub(crate) fn new(gemm: &Gemm, params: &[Param], kernels: &'static Kernels<T>) -> Result<Product<T>> {
        let (nb, nm, nn) = (gemm.batch.len(), gemm.m.len(), gemm.n.len());
        let m = Side { first: nb, extents: gemm.m.clone(), count: volume(&gemm.m) };
        let n = Side { first: nb + nm, extents: gemm.n.clone(), count: volume(&gemm.n) };
        let epilogue = Epilogue::new(gemm, params, T::DTYPE)?;
        let swapped = epilogue.is_transposed() || pays_swapped(m.count, n.count, volume(&gemm.k), kernels);
        let ((a, b), pairs) = operands(gemm, params, [&m, &n], nb + nm + nn)?;
        let (rows, cols, a, b) = if swapped { (n, m, b, a) } else { (m, n, a, b) };
        let pairs = pairs.into_iter().map(|(x, y)| if swapped { (y, x) } else { (x, y) }).collect();
        let lies = |o: &Operand| Lies::of::<T>(o, kernels.along.is_some());
        let lies = lies(&b[0]).filter(|&l| (1..=ROWS).contains(&rows.count) && b.iter().all(|o| lies(o) == Some(l)));
        let (k, batches) = (volume(&gemm.k), volume(&gemm.batch));
        let blocks = k_blocks(k, if lies == Some(Lies::Along) { ALONG_KC } else { KC });
        Ok(Product { kernels, batch: gemm.batch.clone(), batches, rows, cols, k, blocks, a, b, pairs, swapped, lies, epilogue })
    }

    /// Bytes of kept panels.
    pub(crate) fn packed_bytes(&self) -> usize {
        self.a.iter().chain(&self.b).filter_map(|o| o.kept.get()).map(|p| p.bytes()).sum()
    }

    /// Rows of a panel of the row operands.
    pub(crate) fn panel_rows(&self) -> usize {
        self.lies.map_or(self.kernels.mr, |l| l.panel_rows(self.rows.count))
    }

    /// Multiply-adds of one launch.
    fn work(&self) -> usize {
        [self.batches, self.rows.count, self.cols.count, self.k, self.pairs.len()].into_iter().fold(1, usize::saturating_mul)
    }

    /// How to cut the product for a number of threads.
    pub(crate) fn tiling(&self, threads: usize) -> Tiling {
        let (mr, nr) = (self.panel_rows(), self.kernels.nr);
        let work = self.work();
        let threads = if work < ALONE { 1 } else { threads };
        let wide = match self.lies {
            Some(lies) => lies.columns(self.rows.count).min(self.cols.count.div_ceil(threads).next_multiple_of(nr)),
            None => (NC / self.pairs.len()).next_multiple_of(nr),
        };
        let mut mc = balanced(self.rows.count, MC.next_multiple_of(mr), mr);
        let mut nc = balanced(self.cols.count, wide, nr);
        let tasks = |mc: usize, nc: usize| self.batches * self.rows.count.div_ceil(mc) * self.cols.count.div_ceil(nc);
        while threads > 1
            && self.lies.is_none()
            && tasks(mc, nc) < 3 * threads
            && work / tasks(mc, nc) > 2 * TASK
            && (mc > mr || nc > nr)
        {
            if nc > nr && (nc >= mc || mc <= mr) {
                nc = balanced(self.cols.count, (nc / 2).next_multiple_of(nr), nr).min(nc - nr);
            } else {
                mc = balanced(self.rows.count, (mc / 2).next_multiple_of(mr), mr).min(mc - mr);
            }
        }
        let tiles = (self.rows.count.div_ceil(mc), self.cols.count.div_ceil(nc));
        let total = self.batches * tiles.0 * tiles.1;
        let group = (TASK * total / work.max(1)).clamp(1, total.div_ceil(2 * threads).max(1));
        Tiling { mc, nc, tiles, total, group, threads }
    }

    /// Whether an operand is packed before the tiles run, given how many tiles of a batch index use one part of it.
    pub(crate) fn is_shared(&self, operand: &Operand, side: &Side, width: usize, uses: usize) -> bool {
        let uses = if operand.varies { uses } else { uses.saturating_mul(self.batches) };
        let panels = side.count.next_multiple_of(width).saturating_mul(self.k).saturating_mul(size_of::<T>());
        let copies = if operand.varies { self.batches } else { 1 };
        operand.frozen.is_some() || (uses > 1 && panels.saturating_mul(copies) <= SHARED_BYTES)
    }
}

/// Whether the transposed problem wastes so much less of the panels that turning the accumulators pays.
fn pays_swapped<T>(m: usize, n: usize, k: usize, kernels: &Kernels<T>) -> bool {
    let padded = m.saturating_mul(n.next_multiple_of(kernels.nr));
    let turned = n.saturating_mul(m.next_multiple_of(kernels.nr));
    m > 1 && k >= 32 && turned.saturating_mul(8) < padded.saturating_mul(7)
}

/// A way to cut a product into tiles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tiling {
    /// Rows and columns of a tile: multiples of the panel widths.
    pub(crate) mc: usize,
    pub(crate) nc: usize,
    /// Tiles along rows and along columns.
    pub(crate) tiles: (usize, usize),
    /// Tiles of all batch indices.
    pub(crate) total: usize,
    /// Tiles that one task takes.
    pub(crate) group: usize,
    /// Threads worth using.
    pub(crate) threads: usize,
}

type Operands = ((Vec<Operand>, Vec<Operand>), Vec<(usize, usize)>);

/// The distinct operands of the products, by role (m side, n side), and the products in their numbers.
fn operands(gemm: &Gemm, params: &[Param], sides: [&Side; 2], k_first: usize) -> Result<Operands> {
    let mut lists: [Vec<Operand>; 2] = [Vec::new(), Vec::new()];
    let mut numbers: [Vec<(usize, usize)>; 2] = [Vec::new(), Vec::new()];
    let mut pairs = Vec::new();
    for &(a, b) in &gemm.products {
        let mut at = [0; 2];
        for (role, source) in [a, b].into_iter().enumerate() {
            at[role] = match numbers[role].iter().find(|known| known.0 == source) {
                Some(known) => known.1,
                None => {
                    lists[role].push(operand(gemm, params, source, sides[role], role, k_first)?);
                    numbers[role].push((source, lists[role].len() - 1));
                    lists[role].len() - 1
                }
            };
        }
        pairs.push((at[0], at[1]));
    }
    let [a, b] = lists;
    Ok(((a, b), pairs))
}

fn operand(gemm: &Gemm, params: &[Param], source: usize, side: &Side, role: usize, k_first: usize) -> Result<Operand> {
    let missing = |what: &str, i: usize| Error::internal(format!("gemm refers to {what} {i}, which does not exist"));
    match gemm.sources.get(source).ok_or_else(|| missing("source", source))? {
        PackSource::Direct { param, index, mask, frozen } => {
            let dtype = params.get(usize::from(*param)).ok_or_else(|| missing("parameter", usize::from(*param)))?.dtype;
            let axes = [(0, &*gemm.batch), (side.first, &*side.extents), (k_first, &*gemm.k)];
            let strided = Strided::new(dtype, index, mask, axes);
            let varies = strided.varies_over_batch();
            let recipe = || Recipe {
                params: SmallVec::from_slice(&[*param]),
                ty: gemm.ty,
                elements: Elements::Direct(Box::new(Strided { batch: SmallVec::new(), ..strided.clone() })),
            };
            let frozen = (*frozen && !varies).then(|| Arc::new(recipe()));
            let source = Source::Direct { param: usize::from(*param), strided: Box::new(strided) };
            Ok(Operand { source, varies, frozen, kept: OnceLock::new() })
        }
        PackSource::Computed { body, result, frozen } => {
            let computed = Computed::new(gemm, params, body, *result, side, role == 0)?;
            let varies = !frozen && !gemm.batch.is_empty();
            let checked = body.code.iter().any(|i| matches!(i, Instr::Check { .. }));
            let frozen =
                (*frozen && !checked).then(|| Arc::new(computed_recipe(gemm, params, (body, *result), side, role == 0, k_first)));
            Ok(Operand { source: Source::Computed(Box::new(computed)), varies, frozen, kept: OnceLock::new() })
        }
    }
}

/// The recipe of a frozen operand that a body computes.
fn computed_recipe(
    gemm: &Gemm,
    params: &[Param],
    (body, result): (&Body, Reg),
    side: &Side,
    rows: bool,
    k_first: usize,
) -> Recipe {
    let read = Recipe::params_of(body);
    let dtypes = read.iter().filter_map(|&p| params.get(usize::from(p))).map(|p| p.dtype).collect();
    let (x, k) = ((side.first, side.extents.clone()), (k_first, gemm.k.clone()));
    let elements = Elements::Computed { body: body.clone(), result, x, k, lanes_are_rows: rows, dtypes };
    Recipe { params: read, ty: gemm.ty, elements }
}

/// Blocks of nearly equal size, none above `most`.
fn k_blocks(k: usize, most: usize) -> Vec<Range<usize>> {
    let size = k.div_ceil(k.div_ceil(most).max(1)).next_multiple_of(8).clamp(1, k.max(1));
    (0..k).step_by(size).map(|start| start..(start + size).min(k)).collect()
}

/// A size of at most `most` that cuts `count` into nearly equal multiples of `unit`.
fn balanced(count: usize, most: usize, unit: usize) -> usize {
    let parts = count.div_ceil(most).max(1);
    count.div_ceil(parts).next_multiple_of(unit).max(unit)
}

/// Product of extents.
pub(crate) fn volume(extents: &[i64]) -> usize {
    extents.iter().map(|&d| d.max(0) as usize).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_k_in_nearly_equal_parts() {
        for k in 0..3000 {
            let blocks = k_blocks(k, KC);
            let mut at = 0;
            for block in &blocks {
                assert!(block.start == at && block.len() <= KC && !block.is_empty());
                at = block.end;
            }
            assert_eq!(at, k);
            assert_eq!(blocks.len(), k.div_ceil(KC));
        }
    }
}
