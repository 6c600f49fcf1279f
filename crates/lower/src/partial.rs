//! Reductions over parallel axes: partial results per block of an axis, and the nests that finish them.
//!
//! A store that lacks a parallel axis belongs to a finish phase: what it depends on is reduced over that axis. Such a
//! reduction is accumulated along blocks of one axis in the main nest, which leaves one partial state per block in a
//! workspace. A comp with few parallel points and long reductions is brought into this form, so that all cores take part.
//! The number of blocks depends on sizes only, never on the number of threads.

use std::collections::BTreeSet;

use base::{Numerics, Result};
use kernel::{AxisSet, ValueId};
use program::{Access, Param, Phase, TileProgram, Ty};
use scalar::{Combiner, DType};
use smallvec::SmallVec;

use crate::flat::{Flat, FlatDef, FlatStore};
use crate::lin::Lin;
use crate::meet;
use crate::nest;
use crate::schedule::{Tiles, tiles};
use crate::stages;
use crate::unsupported;

/// Fewest grid tiles that keep all cores busy.
const MIN_GRID: i64 = 16;
/// How much longer the column axis must be than another to be split: vectors run along it.
const COLUMN_COST: i64 = 1 << 14;
/// Work, in points, from which a reduction is split.
const MIN_SPLIT: i64 = 1 << 16;

/// The axes that one grid point takes in order, and the states that live across a block of the first.
pub(crate) struct Block {
    pub(crate) axis: usize,
    pub(crate) within: SmallVec<[usize; 4]>,
    pub(crate) block: usize,
    pub(crate) length: i64,
    pub(crate) partials: Vec<Partial>,
}

impl Block {
    /// Whether the steps of a block run along an axis.
    pub(crate) fn walks(&self, axis: usize) -> bool {
        self.axis == axis || self.within.contains(&axis)
    }
}

/// A reduction whose state is stored per block.
pub(crate) struct Partial {
    pub(crate) value: ValueId,
    /// Workspace and element index of each component.
    pub(crate) states: SmallVec<[(usize, Lin); 3]>,
}

/// Dtype that holds a component's register without loss.
pub(crate) fn state_dtype(ty: Ty) -> DType {
    match ty {
        Ty::Bool => DType::Bool,
        Ty::I32 => DType::I32,
        Ty::I64 => DType::I64,
        Ty::F32 => DType::F32,
        Ty::F64 => DType::F64,
    }
}

/// How a device splits reductions.
pub(crate) trait Splitting {
    /// Prepares a comp of one phase.
    fn settle(&self, flat: &mut Flat);
    /// Tile directions, for devices that have them.
    fn tiles(&self, flat: &Flat) -> Tiles;
    /// Whether the parallel points alone leave the device idle.
    fn is_idle(&self, flat: &Flat) -> bool;
    /// Blocks of an axis that leave one partial result each, for reductions over so many points.
    fn blocks(&self, flat: &Flat, points: i64) -> i64;
    /// Adjacent points of an axis that belong to one block.
    fn grain(&self, flat: &Flat, tiles: Tiles, axis: usize) -> i64;
}

/// The CPU's way.
pub(crate) struct Cores;

impl Splitting for Cores {
    fn settle(&self, flat: &mut Flat) {
        flat.coalesce();
    }
    fn tiles(&self, flat: &Flat) -> Tiles {
        tiles(flat)
    }
    fn is_idle(&self, flat: &Flat) -> bool {
        let parallel = flat.parallel();
        flat.points(parallel) < MIN_GRID || grid_tiles(flat, parallel, tiles(flat)) < MIN_GRID
    }
    fn blocks(&self, _: &Flat, points: i64) -> i64 {
        kernel::blocks(points)
    }
    fn grain(&self, _: &Flat, tiles: Tiles, axis: usize) -> i64 {
        [tiles.rows, tiles.cols].into_iter().flatten().find(|t| t.0 == axis).map_or(1, |t| t.1 as i64)
    }
}

/// A nest of a phase, before it is scheduled.
pub(crate) struct Unit {
    pub(crate) flat: Flat,
    pub(crate) tiles: Tiles,
    pub(crate) block: Option<Block>,
}

/// Lowers a comp without matrix products: one nest, or a main nest and its finish phases.
pub(crate) fn lower(flat: Flat, numerics: Numerics, program: &mut TileProgram) -> Result<Vec<Phase>> {
    let phases = phases(flat, &Cores, &mut program.params)?;
    let mut nest = |unit: &Unit| nest::lower(&unit.flat, unit.tiles, unit.block.as_ref(), numerics, program);
    phases.iter().map(|units| Ok(Phase::Nests(units.iter().map(&mut nest).collect::<Result<_>>()?))).collect()
}

/// The nests of each phase; workspaces are added to the parameters.
pub(crate) fn phases(mut flat: Flat, device: &dyn Splitting, params: &mut Vec<Param>) -> Result<Vec<Vec<Unit>>> {
    spread(&mut flat, device);
    let parallel = flat.parallel();
    let no_points = flat.points(parallel) == 0;
    let late = |s: &FlatStore| plain_stores(&flat) && !parallel.minus(flat.store_axes(s)).is_empty();
    let (late, stores): (Vec<FlatStore>, Vec<FlatStore>) = flat.stores.iter().cloned().partition(late);
    if late.is_empty() {
        if no_points {
            return Ok(Vec::new());
        }
        device.settle(&mut flat);
        let tiles = device.tiles(&flat);
        let block = meet::block(&mut flat, tiles);
        return Ok(vec![vec![Unit { flat, tiles, block }]]);
    }
    let crosses = crosses(&flat, &late, parallel);
    flat.stores = stores;
    let mut phases = Vec::new();
    let mut main = None;
    let idle = flat.stores.is_empty() && crosses.is_empty();
    if !no_points && !idle {
        let tiles = device.tiles(&flat);
        let block = block(&mut flat, tiles, &crosses, device, params)?;
        main = Some(Unit { flat: flat.clone(), tiles, block });
    }
    let domains: BTreeSet<AxisSet> = late.iter().map(|s| flat.store_axes(s)).collect();
    let blocks = main.as_ref().and_then(|m| m.block.as_ref());
    let finish = |domain: AxisSet| {
        let mut part = blocks.map_or_else(|| flat.clone(), |block| merged(&flat, block, domain));
        part.stores = late.iter().filter(|s| flat.store_axes(s) == domain).cloned().collect();
        part.inner = (0..part.extents.len()).filter(|&a| !domain.has(a)).collect();
        let tiles = device.tiles(&part);
        Unit { flat: part, tiles, block: None }
    };
    let finish: Vec<Unit> = domains.into_iter().map(finish).collect();
    phases.extend(main.map(|m| vec![m]));
    phases.push(finish);
    Ok(phases)
}

/// Reductions over parallel axes that some of these stores need.
fn crosses(flat: &Flat, stores: &[FlatStore], parallel: AxisSet) -> Vec<ValueId> {
    let mut seen = BTreeSet::new();
    let mut stack: Vec<ValueId> = stores.iter().flat_map(|s| flat.store_operands(s)).collect();
    while let Some(v) = stack.pop() {
        if seen.insert(v) {
            stack.extend(flat.operands(v));
        }
    }
    seen.into_iter().filter(|&v| !flat.value(v).def.reduced().and(parallel).is_empty()).collect()
}

/// Makes the longest reduced axis parallel where the parallel axes alone would leave cores idle.
fn spread(flat: &mut Flat, device: &dyn Splitting) {
    let parallel = flat.parallel();
    let reductions: Vec<ValueId> =
        (0..flat.values.len() as ValueId).filter(|&v| !flat.live(flat.value(v).def.reduced()).is_empty()).collect();
    let Some(&first) = reductions.first() else { return };
    let over = flat.live(flat.value(first).def.reduced());
    let inner = flat.live(flat.inner);
    let tiles = device.tiles(flat);
    if !device.is_idle(flat) || flat.points(parallel.union(inner)) < MIN_SPLIT || !splits(flat, &reductions, over) {
        return;
    }
    let columns = tiles.cols.map(|t| t.0);
    let best = over.iter().max_by_key(|&a| if Some(a) == columns { flat.extents[a] / COLUMN_COST } else { flat.extents[a] });
    if let Some(axis) = best.filter(|&a| flat.extents[a] >= MIN_GRID) {
        flat.inner = flat.inner.minus(AxisSet::one(axis));
        flat.over = AxisSet::one(axis);
    }
}

/// Every point is stored once.
fn plain_stores(flat: &Flat) -> bool {
    flat.stores.iter().all(|s| s.combine.is_none() && !s.collides)
}

fn grid_tiles(flat: &Flat, parallel: AxisSet, tiles: Tiles) -> i64 {
    let step = |a: usize| [tiles.rows, tiles.cols].into_iter().flatten().find(|t| t.0 == a).map_or(1, |t| t.1 as i64);
    parallel.iter().map(|a| (flat.extents[a] + step(a) - 1) / step(a)).product()
}

/// All reductions share their axes and are over elements only, and nothing varies over those axes once they are complete.
fn splits(flat: &Flat, reductions: &[ValueId], over: AxisSet) -> bool {
    let scans = flat.values.iter().any(|v| matches!(v.def, FlatDef::Scan { .. }));
    if !plain_stores(flat) || scans || reductions.iter().any(|&v| flat.live(flat.value(v).def.reduced()) != over) {
        return false;
    }
    let level = stages::availability(flat, &[]);
    let late = |v: ValueId| level[v as usize] > 0;
    let inner = flat.live(flat.inner);
    let early = reductions.iter().all(|&v| level[v as usize] == 1);
    let values = (0..flat.values.len() as ValueId).all(|v| !late(v) || flat.value(v).free.and(inner).is_empty());
    let stored = |s: &FlatStore| flat.store_operands(s).into_iter().any(late);
    let stores = flat.stores.iter().all(|s| !stored(s) || flat.store_axes(s).and(inner).is_empty());
    early && values && stores
}

/// Adds the axis that numbers blocks, and the workspaces of the partial states.
fn block(
    flat: &mut Flat,
    tiles: Tiles,
    crosses: &[ValueId],
    device: &dyn Splitting,
    params: &mut Vec<Param>,
) -> Result<Option<Block>> {
    if crosses.is_empty() {
        return Ok(None);
    }
    let reduced = |v: &ValueId| flat.value(*v).def.reduced().and(flat.parallel());
    let over = reduced(&crosses[0]);
    if crosses.iter().any(|v| reduced(v) != over) {
        return Err(unsupported("reductions over different parallel axes"));
    }
    let axis = over.iter().max_by_key(|&a| flat.extents[a]).ok_or_else(|| unsupported("a reduction over no axis"))?;
    let within: SmallVec<[usize; 4]> = flat.order.iter().copied().filter(|&a| over.has(a) && a != axis).collect();
    let step = device.grain(flat, tiles, axis);
    let extent = flat.extents[axis];
    let steps = (extent + step - 1) / step;
    let blocks = device.blocks(flat, flat.points(flat.live(flat.inner).union(over))).min(steps);
    let length = (steps + blocks - 1) / blocks * step;
    let numbers = numbering_axis(flat, axis, (extent + length - 1) / length);
    let block = numbers.ok_or_else(|| unsupported("too many axes"))?;
    let partials = crosses.iter().map(|&v| partial(flat, v, block, params)).collect::<Result<Vec<_>>>()?;
    Ok(Some(Block { axis, within, block, length, partials }))
}

/// A new axis that numbers the blocks of another, before it; `None` when there are too many axes.
pub(crate) fn numbering_axis(flat: &mut Flat, axis: usize, blocks: i64) -> Option<usize> {
    let number = flat.extents.len();
    if number >= AxisSet::MAX {
        return None;
    }
    flat.extents.push(blocks);
    let at = flat.order.iter().position(|&a| a == axis).unwrap_or(0);
    flat.order.insert(at, number);
    Some(number)
}

/// Workspaces of one reduction: blocks, then what the result varies over.
fn partial(flat: &Flat, value: ValueId, block: usize, params: &mut Vec<Param>) -> Result<Partial> {
    let free = flat.live(flat.value(value).free);
    let mut index = Lin::default();
    let mut elements = 1;
    let kept = flat.order.iter().copied().filter(|&a| free.has(a));
    for a in std::iter::once(block).chain(kept).collect::<Vec<_>>().into_iter().rev() {
        index = index.add(&Lin::axis(a).scale(elements));
        elements *= flat.extents[a];
    }
    let states = components(flat, value)?.into_iter().map(|(_, dtype)| {
        let dtype = state_dtype(Ty::of(dtype));
        let name = format!("partial{}", params.len());
        params.push(Param { name, dtype, access: Access::ReadWrite, elements: elements as u64 });
        (params.len() - 1, index.clone())
    });
    Ok(Partial { value, states: states.collect() })
}

/// Combiner of a reduction with the dtype of each result component.
pub(crate) fn components(flat: &Flat, value: ValueId) -> Result<Vec<(Combiner, DType)>> {
    Ok(match &flat.value(value).def {
        FlatDef::Reduce { combiner, src, .. } => {
            let operands: Vec<DType> = src.iter().map(|&s| flat.value(s).dtype).collect();
            let results = combiner.results(&operands).map_err(|e| unsupported(&e))?;
            results.into_iter().map(|d| (*combiner, d)).collect()
        }
        FlatDef::Contract { acc, .. } => vec![(Combiner::Sum, *acc)],
        FlatDef::Merge { combiner, dtypes, .. } => dtypes.iter().map(|&d| (*combiner, d)).collect(),
        _ => return Err(unsupported("not a reduction")),
    })
}

/// The comp with its partial reductions replaced by the merge of their stored states, and without the axes that they are over but
/// for those of a domain.
fn merged(flat: &Flat, block: &Block, domain: AxisSet) -> Flat {
    let mut out = flat.clone();
    let gone = |a: usize| (a == block.axis || block.within.contains(&a)) && !domain.has(a);
    out.order.retain(|&a| !gone(a));
    out.extents.iter_mut().enumerate().filter(|(a, _)| gone(*a)).for_each(|(_, extent)| *extent = 1);
    let axes = AxisSet::one(block.block);
    for p in &block.partials {
        let Ok(parts) = components(flat, p.value) else { continue };
        let Some(&(combiner, _)) = parts.first() else { continue };
        let dtypes = parts.iter().map(|p| p.1).collect();
        out.values[p.value as usize].def = FlatDef::Merge { combiner, states: p.states.clone(), dtypes, axes };
    }
    out
}
