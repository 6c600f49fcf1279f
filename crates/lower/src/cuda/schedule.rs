//! How a nest's points are dealt to a GPU's threads.

use kernel::AxisSet;
use scalar::DType;

use crate::flat::{Flat, FlatDef, FlatValue};
use crate::lin::{Atom, Lin};
use crate::partial::{Block, Splitting};
use crate::schedule::Tiles;
use crate::stages::{Plan, Stages};

use super::hold::{Hold, copied_bytes, read_again};
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
/// Most blocks that share a row.
const MOST_CLUSTER: i64 = 16;
/// Most accumulators that a thread keeps through a walk.
const ACCUMULATORS: i64 = 32;
/// Most bytes of loads that a thread holds in registers for later stages, where shared memory could hold them.
const FEW_HELD: i64 = 128;
/// As many where it could not, in a block of up to 512 threads and in a larger one.
const HELD: (i64, i64) = (384, 96);
/// Bytes of a row that a block of a cluster holds in shared memory, so that six blocks of a multiprocessor read ahead of each other;
/// up to which one block holds it, or half of the largest cluster; and up to which any block holds a part of it.
const SHARE: i64 = 32 << 10;
const MOST_SHARE: i64 = 64 << 10;
const ALONE_SHARE: i64 = 96 << 10;
/// Shared memory of a multiprocessor, and what a block takes of it beside what it holds.
const SHARED: i64 = 227 << 10;
const STATIC: i64 = 2 << 10;

/// Fewest chunks of results that keep the GPU busy if many threads share each of them.
const FEW_RESULTS: i64 = 96;
/// Threads of one multiprocessor that blocks with partial results fill.
const RESIDENT: i64 = 2048;
/// As many where they keep sums for whole rows, in most of their registers.
const WALKING: i64 = 512;
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
    /// Where loads that several stages read wait.
    pub(crate) hold: Hold,
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
    let across = accesses.iter().filter(|x| flat.axes_of(x.index).has(axis));
    let most = across.map(|x| x.dtype.size() as i64).max().unwrap_or(ACCESS);
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
    let one = Schedule {
        vector,
        lanes,
        points: 1,
        walkers: 1,
        group: 1,
        cluster: 1,
        strided: false,
        unroll: 1,
        unrolled: false,
        hold: Hold::Nowhere,
    };
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
            (true, true) => {
                let few = (ACCUMULATORS / kept).max(1);
                let fits = |each: i64| (most + each - 1) / each <= 2 * THREADS;
                (if !fits(few) && fits(2 * few) { 2 * few } else { few }, MOST_CLUSTER / 2 * THREADS)
            }
            (true, false) => ((ACCUMULATORS / kept).max(1), 512),
            _ if block.is_some_and(|b| !b.partials.is_empty()) || count >= 8 * PROCESSORS => (CHUNKS, THREADS),
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
        let order = Stages::new(flat, partials);
        let row = Row { bytes: held_bytes(&order, &plan, vector, lanes, dtypes).filter(|_| shared.alone), chunks: most };
        let single = kept == 0 && !has_scan && block.is_none_or(|b| b.length == 1);
        if let Some((cluster, threads)) = row.shares(clusters).filter(|_| single) {
            return Schedule { group: cluster * threads, cluster, hold: Hold::Shared, ..one };
        }
        if kept > 0 && group > 2 * THREADS {
            return Schedule {
                group,
                cluster: group / THREADS,
                unrolled: true,
                hold: row.ahead(group, THREADS, clusters),
                ..one
            };
        }
        let threads = match (in_order, kept > 0) {
            (true, _) => group,
            (_, true) => group.max(THREADS),
            _ => group.max(128),
        };
        let others = threads / group;
        let hold = match kept > 0 {
            true => row.ahead(group, threads, clusters),
            false if !has_scan && holds(flat, &plan, group, lanes, vector, dtypes) => Hold::Registers,
            false => Hold::Nowhere,
        };
        let unrolled = kept > 0 || hold == Hold::Registers;
        let (points, walkers) = if block.is_some() { (1, others) } else { (others.min(power_above(count)), 1) };
        return Schedule { points, walkers, group, unrolled, hold, ..one };
    }
    if vector.is_some_and(walked) {
        let walkers = if in_order { 1 } else { THREADS };
        return Schedule { walkers, ..one };
    }
    if most > 1 || (block.is_some() && !in_order) {
        let few = |lanes: i64| block.is_none() && count / lanes / 32 < PROCESSORS;
        if few(lanes) && count / lanes >= FEW_RESULTS {
            let points = power_below(count / lanes / FEW_RESULTS).min(32);
            let group = (1024 / points).min(power_above(most / FEW_CHUNKS));
            return Schedule { points, group, strided: true, ..one };
        }
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

/// What shared memory would hold of a row.
struct Row {
    /// Bytes per chunk, if the hardware can copy all that several stages read.
    bytes: Option<i64>,
    chunks: i64,
}

impl Row {
    /// Blocks that share the row and threads of each; `None` where a block's registers suffice, or shared memory does not.
    fn shares(&self, clusters: bool) -> Option<(i64, i64)> {
        let bytes = self.bytes?;
        let row = bytes * self.chunks;
        let cluster = match (row, clusters) {
            (_, false) => 1,
            (row, _) if row <= MOST_SHARE => 1,
            (row, _) if row > MOST_CLUSTER / 2 * MOST_SHARE => MOST_CLUSTER,
            (row, _) => power_above((row + SHARE - 1) / SHARE).min(MOST_CLUSTER / 2),
        };
        let threads = power_above((row / cluster + FEW_HELD - 1) / FEW_HELD).clamp(128, 512);
        let steps = (self.chunks + THREADS - 1) / THREADS;
        let few = cluster == 1 && bytes * steps <= FEW_HELD;
        (!few && row <= cluster * ALONE_SHARE).then_some((cluster, threads))
    }

    /// Where what a walk reads ahead waits: two steps of it, for `threads` of a group.
    fn ahead(&self, group: i64, threads: i64, clusters: bool) -> Hold {
        let steps = (self.chunks + group - 1) / group;
        let most = (SHARED * threads / WALKING - STATIC).min(if clusters { SHARED } else { ALONE_SHARE });
        let fits = self.bytes.is_some_and(|bytes| 2 * bytes * steps * threads <= most);
        if fits { Hold::Shared } else { Hold::Registers }
    }
}

/// Bytes that the loads which several stages read take per chunk, if shared memory can hold them.
fn held_bytes(order: &Stages<'_>, plan: &Plan, vector: Option<usize>, lanes: i64, dtypes: &[DType]) -> Option<i64> {
    let again = read_again(order, plan);
    let bytes = again.iter().map(|&v| copied_bytes(order.flat, v, vector, lanes, dtypes)).sum::<Option<i64>>()?;
    (bytes > 0).then_some(bytes)
}

/// Whether loads that later stages need again fit in registers.
fn holds(flat: &Flat, plan: &Plan, group: i64, lanes: i64, vector: Option<usize>, dtypes: &[DType]) -> bool {
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
    let most = if group > 512 { HELD.1 } else { HELD.0 };
    bytes.sum::<i64>() * lanes * steps <= most && steps <= 4 * CHUNKS
}

/// The GPU's way to split reductions.
pub(crate) struct Grid<'a> {
    pub(crate) dtypes: &'a [DType],
    /// Blocks may share a row as a cluster, and nothing else is in the launch.
    pub(crate) clusters: bool,
}

impl Grid<'_> {
    /// Results that a block of threads takes side by side: one, where its threads are along what is reduced.
    fn rows_together(&self, flat: &Flat) -> i64 {
        let along = |v: usize| flat.inner.has(v) || flat.over.has(v);
        if vector(flat, self.dtypes).0.is_some_and(along) { 1 } else { THREADS }
    }

    /// Whether the blocks of a cluster share each row.
    fn shares_rows(&self, flat: &Flat) -> bool {
        let (vector, lanes) = vector(flat, self.dtypes);
        let inner = flat.live(flat.inner);
        let order = Stages::new(flat, &[]);
        let is_row = self.clusters && vector.is_some_and(|v| inner.has(v));
        let bytes = held_bytes(&order, &order.plan(), vector, lanes, self.dtypes).filter(|_| is_row);
        Row { bytes, chunks: flat.points(inner) / lanes }.shares(true).is_some_and(|(cluster, _)| cluster > 1)
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
            (Some(axis), lanes) if !flat.inner.has(axis) => points / lanes < FEW_RESULTS,
            _ => points < 2 * PROCESSORS,
        }
    }
    fn blocks(&self, flat: &Flat, points: i64) -> i64 {
        let rows = flat.points(flat.parallel().minus(flat.over));
        let inner = flat.points(flat.live(flat.inner));
        let along_rows = |v: &FlatValue| !flat.live(v.def.reduced().and(flat.parallel())).is_empty();
        let kept = flat.values.iter().any(|v| along_rows(v) && !flat.live(v.free.and(flat.inner)).is_empty());
        if !kept && self.shares_rows(flat) {
            return points;
        }
        let threads = if kept {
            match inner / 16 {
                n if n <= THREADS => THREADS,
                n if n <= 1024 => 512,
                n => n,
            }
        } else {
            THREADS
        };
        let long_rows = self.rows_together(flat) == 1 && inner >= LEAST_BLOCK;
        let per_processor = match (kept, long_rows) {
            (true, _) => WALKING,
            (_, true) => 4 * RESIDENT,
            _ => RESIDENT,
        };
        let wanted = PROCESSORS * per_processor / threads;
        let together = self.rows_together(flat);
        let work = points.saturating_mul(rows.clamp(1, together));
        (work / LEAST_BLOCK).min(wanted / (rows / together).max(1)).max(1)
    }
    fn grain(&self, flat: &Flat, _: Tiles, axis: usize) -> i64 {
        let (vector, lanes) = vector(flat, self.dtypes);
        if vector == Some(axis) { lanes } else { 1 }
    }
}
