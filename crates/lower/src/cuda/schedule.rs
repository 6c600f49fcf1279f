//! How a nest's points are dealt to a GPU's threads.

use kernel::AxisSet;
use scalar::DType;

use crate::flat::{Flat, FlatDef};
use crate::lin::{Atom, Lin};
use crate::partial::{Block, Splitting};
use crate::schedule::Tiles;
use crate::stages::{Plan, Stages};

use super::print::Shared;

/// Multiprocessors that a schedule has in mind; more or fewer change speed only.
const PROCESSORS: i64 = 132;
/// Bytes of the widest access.
const ACCESS: i64 = 16;
/// Threads of a block that has no reason for another number.
const THREADS: i64 = 256;
/// Most chunks of a row that one thread takes where rows are long enough for many threads.
const CHUNKS: i64 = 8;
/// As many as one thread takes while a row has too few for blocks of [`THREADS`].
const FEW_CHUNKS: i64 = 4;
/// Chunks of a row from which several blocks share it, if it is read more than once; and most chunks that one of them takes.
const CLUSTERED: i64 = CHUNKS * THREADS;
/// Most blocks that share a row.
const MOST_CLUSTER: i64 = 16;
/// Most accumulators that a thread keeps through a walk.
const ACCUMULATORS: i64 = 32;
/// Most bytes of loads that a thread of a small and of the largest block keeps for later stages.
const HELD: (i64, i64) = (384, 96);

/// Threads of one multiprocessor that blocks with partial results fill.
const RESIDENT: i64 = 2048;
/// Fewest points of a block that leaves a partial result.
const LEAST_BLOCK: i64 = 4096;

/// How the points of a nest are dealt to threads. A thread has three numbers: `x` among points, `r` among the steps of a block of
/// points that leaves partial results, `g` among the inner points of one point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    /// Axis along which a thread takes adjacent points.
    pub(crate) vector: Option<usize>,
    /// How many.
    pub(crate) lanes: i64,
    /// Threads across points.
    pub(crate) points: i64,
    /// Threads across the steps of a block.
    pub(crate) walkers: i64,
    /// Threads across inner points.
    pub(crate) group: i64,
    /// Blocks that share one point: the group's threads are spread over them.
    pub(crate) cluster: i64,
    /// Neighbouring threads differ in their point first, not in their inner point.
    pub(crate) strided: bool,
    /// Points that a thread takes at once.
    pub(crate) unroll: i64,
    /// Loops over inner points are unrolled.
    pub(crate) unrolled: bool,
}

impl Schedule {
    /// Threads of a block.
    pub(crate) fn threads(&self) -> i64 {
        self.points * self.walkers * self.group / self.cluster
    }
    /// Steps of a loop over chunks, per thread.
    pub(crate) fn steps(&self, chunks: i64) -> i64 {
        (chunks + self.group - 1) / self.group
    }
}

/// An access and its element type.
struct Access<'a> {
    index: &'a Lin,
    dtype: DType,
    weight: f64,
    is_store: bool,
}

fn accesses<'a>(flat: &'a Flat, dtypes: &[DType]) -> Vec<Access<'a>> {
    let weight = |set: AxisSet, dtype: DType| flat.points(flat.live(set)) as f64 * dtype.size() as f64;
    let mut all = Vec::new();
    for v in &flat.values {
        match &v.def {
            FlatDef::Load { arg, index, .. } => {
                let dtype = dtypes[*arg];
                all.push(Access { index, dtype, weight: weight(v.free, dtype), is_store: false });
            }
            FlatDef::Merge { states, axes, .. } => {
                let free = v.free.union(*axes);
                let state = |(arg, index): &'a (usize, Lin)| Access {
                    index,
                    dtype: dtypes[*arg],
                    weight: weight(free, dtypes[*arg]),
                    is_store: false,
                };
                all.extend(states.iter().map(state));
            }
            _ => {}
        }
    }
    for s in &flat.stores {
        let dtype = dtypes[s.arg];
        all.push(Access { index: &s.index, dtype, weight: 2.0 * weight(flat.store_axes(s), dtype), is_store: true });
    }
    all
}

/// Whether an index steps by one along an axis, from multiples of `lanes`.
pub(crate) fn is_vector(flat: &Flat, index: &Lin, axis: usize, lanes: i64) -> bool {
    let multiple = |(atom, coef): &(Atom, i64)| match atom {
        Atom::Axis(a) if *a == axis => *coef == 1,
        _ => coef % lanes == 0,
    };
    let mut nested = false;
    for (atom, _) in index.terms.iter().filter(|(a, _)| !matches!(a, Atom::Axis(_))) {
        let part = Lin { base: 0, terms: vec![(atom.clone(), 1)] };
        nested |= flat.axes_of(&part).has(axis);
    }
    index.coef(axis) == 1 && index.base % lanes == 0 && !nested && index.terms.iter().all(multiple)
}

/// The axis along which most bytes are adjacent, and how many points of it one thread takes.
fn vector(flat: &Flat, dtypes: &[DType]) -> (Option<usize>, i64) {
    let accesses = accesses(flat, dtypes);
    let score = |a: usize| accesses.iter().filter(|x| x.index.coef(a).abs() == 1).map(|x| x.weight).sum::<f64>();
    let axes = flat.order.iter().copied().filter(|&a| flat.extents[a] > 1);
    let best = axes.map(|a| (score(a), a)).filter(|s| s.0 > 0.0).max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let Some((_, axis)) = best else { return (None, 1) };
    let scans = flat.values.iter().any(|v| matches!(v.def, FlatDef::Scan { .. }));
    if scans || flat.stores.iter().any(|s| s.collides) {
        return (Some(axis), 1);
    }
    let along: Vec<&Access<'_>> = accesses.iter().filter(|x| x.index.coef(axis) == 1).collect();
    let size = |x: &&Access<'_>| x.dtype.size() as i64;
    let least = along.iter().map(size).min().unwrap_or(ACCESS);
    let most = accesses.iter().map(|x| x.dtype.size() as i64).max().unwrap_or(ACCESS);
    let mut lanes = (ACCESS / least).min(2 * ACCESS / most).max(1);
    let fits = |lanes: i64| {
        let stores = along.iter().filter(|x| x.is_store).all(|x| is_vector(flat, x.index, axis, lanes));
        flat.extents[axis] % lanes == 0 && stores && along.iter().any(|x| is_vector(flat, x.index, axis, lanes))
    };
    while lanes > 1 && !fits(lanes) {
        lanes /= 2;
    }
    (Some(axis), lanes)
}

fn power_above(n: i64) -> i64 {
    (n.max(1) as u64).next_power_of_two() as i64
}

fn power_below(n: i64) -> i64 {
    1 << n.max(1).ilog2()
}

/// The schedule of a nest.
pub(crate) fn schedule(flat: &Flat, block: Option<&Block>, shared: &Shared<'_>) -> Schedule {
    let (dtypes, clusters) = (shared.dtypes, shared.alone && shared.clusters);
    let (vector, lanes) = vector(flat, dtypes);
    let one = Schedule { vector, lanes, points: 1, walkers: 1, group: 1, cluster: 1, strided: false, unroll: 1, unrolled: false };
    if block.is_none() && flat.stores.iter().any(|s| s.collides) {
        return Schedule { lanes: 1, ..one };
    }
    let walked = |a: usize| block.is_some_and(|b| b.walks(a));
    let in_order = block.is_some_and(|b| b.partials.is_empty());
    let partials = block.map_or(&[][..], |b| &b.partials[..]);
    let plan = Stages::new(flat, partials).plan();
    let chunks = |set: AxisSet| flat.points(set) / if vector.is_some_and(|v| set.has(v)) { lanes } else { 1 };
    let most = plan.keys().map(|l| chunks(l.axes)).max().unwrap_or(1).max(1);
    let inner = vector.is_some_and(|v| flat.inner.has(v));
    let parallel = flat.parallel();
    let count: i64 = parallel.iter().filter(|&a| !walked(a)).map(|a| flat.extents[a]).product::<i64>().max(1);
    let has_scan = flat.values.iter().any(|v| matches!(v.def, FlatDef::Scan { .. }));
    let kept = partials.iter().filter(|p| !flat.live(flat.value(p.value).free.and(flat.inner)).is_empty());
    let kept: i64 = kept.map(|p| p.states.len() as i64 * lanes).sum();
    if inner || (vector.is_none_or(walked) && most > 1) || has_scan || kept > 0 {
        let (per_thread, limit) = match (kept > 0, clusters) {
            (true, true) => ((ACCUMULATORS / kept).max(1), MOST_CLUSTER / 2 * THREADS),
            (true, false) => ((ACCUMULATORS / kept).max(1), 512),
            _ => (CHUNKS, 1024),
        };
        let least = power_below(most).min(32);
        let mut group = power_above((most + per_thread - 1) / per_thread).clamp(least, limit);
        if kept == 0 && group < THREADS && most > 32 * FEW_CHUNKS {
            group = power_above((most + FEW_CHUNKS - 1) / FEW_CHUNKS).min(THREADS);
        }
        if has_scan {
            group = power_above(most).clamp(32, 512);
        }
        if clusters && block.is_none() && !has_scan && most > CLUSTERED {
            let cluster = power_above((most + CLUSTERED - 1) / CLUSTERED).min(MOST_CLUSTER);
            let group = cluster * THREADS;
            if holds(flat, &plan, group, lanes, vector, dtypes, THREADS) {
                return Schedule { group, cluster, unrolled: true, ..one };
            }
        }
        if kept > 0 && group > 2 * THREADS {
            return Schedule { group, cluster: group / THREADS, unrolled: true, ..one };
        }
        let threads = match (in_order, kept > 0) {
            (true, _) => group,
            (_, true) => group.max(THREADS),
            _ => group.max(128),
        };
        let others = threads / group;
        let unrolled = !has_scan && (kept > 0 || holds(flat, &plan, group, lanes, vector, dtypes, group));
        let (points, walkers) = if block.is_some() { (1, others) } else { (others.min(power_above(count)), 1) };
        return Schedule { points, walkers, group, unrolled, ..one };
    }
    if vector.is_some_and(walked) {
        let walkers = if in_order { 1 } else { THREADS };
        return Schedule { walkers, ..one };
    }
    if most > 1 || (block.is_some() && !in_order) {
        let few = |lanes: i64| block.is_none() && count / lanes / 32 < PROCESSORS;
        let lanes = if few(lanes) { 1 } else { lanes };
        let points = power_above(count / lanes).min(32);
        let rest = if few(lanes) { 1024 } else { THREADS } / points;
        let (walkers, group) = if block.is_some() { (rest, 1) } else { (1, rest.min(power_above(most))) };
        return Schedule { points, walkers, group, lanes, strided: true, ..one };
    }
    let across = (count / lanes).max(1);
    let points = if shared.alone { power_above(across).min(THREADS) } else { THREADS };
    let unroll = if !in_order && across >= 2 * 8 * THREADS * PROCESSORS { 2 } else { 1 };
    Schedule { points, strided: true, unroll, ..one }
}

/// Whether loads that later stages need again fit in registers.
fn holds(flat: &Flat, plan: &Plan, group: i64, lanes: i64, vector: Option<usize>, dtypes: &[DType], threads: i64) -> bool {
    let sets: Vec<AxisSet> = plan.keys().map(|l| l.axes).filter(|a| !a.is_empty()).collect();
    let Some(&first) = sets.first() else { return false };
    if sets.len() < 2 || sets.iter().any(|s| *s != first) || plan.keys().any(|l| !l.ends.is_empty()) {
        return false;
    }
    let chunks = flat.points(first) / if vector.is_some_and(|v| first.has(v)) { lanes } else { 1 };
    let steps = (chunks + group - 1) / group;
    let bytes = flat.values.iter().filter_map(|v| match &v.def {
        FlatDef::Load { arg, .. } if !v.free.and(flat.inner).is_empty() => Some(dtypes[*arg].size() as i64),
        _ => None,
    });
    let most = if threads > 512 { HELD.1 } else { HELD.0 };
    bytes.sum::<i64>() * lanes * steps <= most && steps <= 4 * CHUNKS
}

/// The GPU's way to split reductions.
pub(crate) struct Grid<'a> {
    pub(crate) dtypes: &'a [DType],
}

impl Grid<'_> {
    /// Results that a block of threads takes side by side: one, where its threads are along what is reduced.
    fn rows_together(&self, flat: &Flat) -> i64 {
        let along = |v: usize| flat.inner.has(v) || flat.over.has(v);
        if vector(flat, self.dtypes).0.is_some_and(along) { 1 } else { THREADS }
    }
}

impl Splitting for Grid<'_> {
    fn settle(&self, _: &mut Flat) {}
    fn tiles(&self, _: &Flat) -> Tiles {
        Tiles::default()
    }
    fn is_idle(&self, flat: &Flat) -> bool {
        if self.rows_together(flat) == 1 && flat.points(flat.live(flat.inner)) < 2 * LEAST_BLOCK {
            return false;
        }
        let points = flat.points(flat.parallel());
        match vector(flat, self.dtypes) {
            (Some(axis), lanes) if !flat.inner.has(axis) => points / lanes / 32 < 2 * PROCESSORS,
            _ => points < 2 * PROCESSORS,
        }
    }
    fn blocks(&self, flat: &Flat, points: i64) -> i64 {
        let rows = flat.points(flat.parallel().minus(flat.over));
        let inner = flat.points(flat.live(flat.inner));
        let threads = (inner / 16).clamp(THREADS, 1024);
        let writes = flat.stores.iter().any(|s| !flat.live(flat.store_axes(s).and(flat.inner)).is_empty());
        let wanted = PROCESSORS * if writes { RESIDENT / 2 } else { RESIDENT } / threads;
        let together = self.rows_together(flat);
        let work = points.saturating_mul(rows.clamp(1, together));
        (work / LEAST_BLOCK).min(wanted / (rows / together).max(1)).max(1)
    }
    fn grain(&self, flat: &Flat, _: Tiles, axis: usize) -> i64 {
        let (vector, lanes) = vector(flat, self.dtypes);
        if vector == Some(axis) { lanes } else { 1 }
    }
}
