//! How a nest's points are dealt to a GPU's threads.

use base::Numerics;
use kernel::{AxisSet, ValueId};
use scalar::DType;

use crate::flat::{Flat, FlatDef, FlatValue, Root};
use crate::lin::{Atom, Lin};
use crate::partial::{Block, Splitting};
use crate::schedule::Tiles;
use crate::stages::{Loops, Plan, Stages};

use super::hold::{Hold, copied_bytes, plain_loads, read_again};
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
pub(super) const MOST_CLUSTER: i64 = 16;
/// Most accumulators that a thread keeps through a walk; twice as many where fewer threads can take a row then, but not too few.
const ACCUMULATORS: i64 = 32;
const FEW_THREADS: i64 = 128;
/// Most bytes of loads that a thread holds in registers for later stages, where shared memory could hold them.
const FEW_HELD: i64 = 128;
/// As many where it could not, in a block of up to 512 threads and in a larger one.
const HELD: (i64, i64) = (384, 96);
/// Bytes of a row that a block of a cluster holds in shared memory, so that six blocks of a multiprocessor read ahead of each other,
/// half of that where an element is little work; up to which one block holds it, or half of the largest cluster; and up to which any
/// block holds a part of it.
const SHARE: i64 = 32 << 10;
const MOST_SHARE: i64 = 64 << 10;
const ALONE_SHARE: i64 = 96 << 10;
/// Shared memory of a multiprocessor, and what a block takes of it beside what it holds.
const SHARED: i64 = 227 << 10;
const STATIC: i64 = 2 << 10;

/// Shared memory in which a block of a stream holds rows, beside the places where states meet.
pub(super) const SHARED_BY_STREAM: i64 = SHARED - (16 << 10);
/// Rows of which it holds its part: fewest, as there are one that is read, one that is accumulated, and one that is finished; and
/// most.
const LEAST_DEPTH: i64 = 3;
const MOST_DEPTH: i64 = 8;
/// Bytes of a row for each thread, if that makes enough threads and not too many.
const FEW_STREAMED: i64 = 64;
/// Most bytes that each of many threads keeps of what every row reads.
const FEW_FIXED: i64 = 64;
/// Fewest rows for each cluster.
const MANY_ROWS: i64 = 2;

/// Fewest chunks of results that keep the GPU busy if many threads share each of them.
const FEW_RESULTS: i64 = 96;
/// Threads of one multiprocessor that blocks with partial results fill.
const RESIDENT: i64 = 2048;
/// As many where they keep sums for whole rows, in most of their registers.
const WALKING: i64 = 512;
/// Most blocks of a multiprocessor that do.
const MOST_WALKS: i64 = 3;
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
    /// Rows of which a block holds its part at once: more than one where blocks or clusters take row after row.
    pub(crate) depth: i64,
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
    let shape = Shape::new(flat, block, shared);
    if block.is_none() && flat.stores.iter().any(|s| s.collides) {
        return Schedule { lanes: 1, ..shape.one() };
    }
    let along_row = shape.vector.is_some_and(|v| flat.inner.has(v));
    if along_row || (shape.vector.is_none_or(|v| shape.walks(v)) && shape.chunks > 1) || shape.has_scan || shape.kept > 0 {
        return shape.rows();
    }
    if shape.vector.is_some_and(|v| shape.walks(v)) {
        return Schedule { walkers: if shape.in_order() { 1 } else { THREADS }, ..shape.one() };
    }
    if shape.chunks > 1 || (block.is_some() && !shape.in_order()) {
        return shape.columns();
    }
    shape.pointwise(shared.alone)
}

/// What a schedule depends on.
struct Shape<'a> {
    flat: &'a Flat,
    block: Option<&'a Block>,
    plan: Plan,
    vector: Option<usize>,
    lanes: i64,
    /// Chunks of the longest loop over inner points.
    chunks: i64,
    /// Parallel points, without those that a block walks over.
    points: i64,
    has_scan: bool,
    /// Elements of states that a thread keeps through a walk, per chunk.
    kept: i64,
    dtypes: &'a [DType],
    clusters: bool,
    row: Row,
}

impl<'a> Shape<'a> {
    fn new(flat: &'a Flat, block: Option<&'a Block>, shared: &Shared<'a>) -> Shape<'a> {
        let (dtypes, clusters) = (shared.dtypes, shared.alone && shared.settings.clusters);
        let (vector, lanes) = vector(flat, dtypes);
        let partials = block.map_or(&[][..], |b| &b.partials[..]);
        let order = Stages::new(flat, partials);
        let plan = order.plan();
        let of = |set: AxisSet| flat.points(set) / if vector.is_some_and(|v| set.has(v)) { lanes } else { 1 };
        let chunks = plan.keys().map(|l| of(l.axes)).max().unwrap_or(1).max(1);
        let walked = |a: usize| block.is_some_and(|b| b.walks(a));
        let points = flat.parallel().iter().filter(|&a| !walked(a)).map(|a| flat.extents[a]).product::<i64>().max(1);
        let has_scan = flat.values.iter().any(|v| matches!(v.def, FlatDef::Scan { .. }));
        let kept = partials.iter().filter(|p| !flat.live(flat.value(p.value).free.and(flat.inner)).is_empty());
        let kept = kept.map(|p| p.states.len() as i64 * lanes).sum();
        let moves = |v: &FlatValue| block.is_none_or(|b| v.free.iter().any(|a| b.walks(a)));
        let bytes = held_bytes(&order, &plan, vector, lanes, dtypes, &moves).filter(|_| shared.alone);
        let fixed = fixed_bytes(&order, lanes, dtypes);
        let light = shared.settings.numerics == Numerics::Wide && fixed == 0;
        let row = Row { bytes, fixed, light, chunks };
        Shape { flat, block, plan, vector, lanes, chunks, points, has_scan, kept, dtypes, clusters, row }
    }

    /// One thread per chunk.
    fn one(&self) -> Schedule {
        Schedule {
            vector: self.vector,
            lanes: self.lanes,
            points: 1,
            walkers: 1,
            group: 1,
            cluster: 1,
            strided: false,
            unroll: 1,
            unrolled: false,
            depth: 1,
            hold: Hold::Nowhere,
        }
    }

    fn walks(&self, axis: usize) -> bool {
        self.block.is_some_and(|b| b.walks(axis))
    }

    fn in_order(&self) -> bool {
        self.block.is_some_and(|b| b.partials.is_empty())
    }

    /// Threads of a group share the inner points of each point.
    fn rows(&self) -> Schedule {
        let single = self.kept == 0 && !self.has_scan && self.block.is_none_or(|b| b.length == 1);
        if let Some((cluster, threads, depth)) = self.row.streams(self.points).filter(|_| single && self.may_stream()) {
            return Schedule { group: cluster * threads, cluster, hold: Hold::Shared, depth, unrolled: true, ..self.one() };
        }
        if let Some((cluster, threads)) = self.row.shares(self.clusters).filter(|_| single) {
            return Schedule { group: cluster * threads, cluster, hold: Hold::Shared, ..self.one() };
        }
        if self.kept > 0 {
            return self.walked_rows();
        }
        let group = self.group();
        let threads = match (self.in_order(), self.block) {
            (true, _) => group,
            (_, Some(_)) => group.max(THREADS),
            _ => group.max(128),
        };
        let hold = if !self.has_scan && self.registers_hold(group) { Hold::Registers } else { Hold::Nowhere };
        let others = threads / group;
        let (points, walkers) = if self.block.is_some() { (1, others) } else { (others.min(power_above(self.points)), 1) };
        Schedule { points, walkers, group, unrolled: hold == Hold::Registers, hold, ..self.one() }
    }

    /// Whether clusters may take row after row.
    fn may_stream(&self) -> bool {
        self.clusters && self.block.is_none() && self.meets_once() && self.vector.is_some_and(|v| self.flat.inner.has(v))
    }

    /// Whether the states of a row meet once, so that those of the next row may be accumulated meanwhile.
    fn meets_once(&self) -> bool {
        let is_partial = |v: ValueId| self.block.is_some_and(|b| b.partials.iter().any(|p| p.value == v));
        let reduces = |roots: &[Root]| roots.iter().any(|r| matches!(r, Root::Value(v) if !is_partial(*v)));
        let loops: Vec<&Loops> = self.plan.iter().filter(|(_, roots)| reduces(roots)).map(|(l, _)| l).collect();
        matches!(loops[..], [l] if l.level == 0 && !l.axes.is_empty())
    }

    /// Whether each step of a walk is a row.
    fn takes_whole_rows(&self) -> bool {
        let is_row = |b: &Block| !self.flat.inner.has(b.axis) && self.vector != Some(b.axis);
        let alone = |b: &Block| b.within.iter().all(|&a| self.flat.extents[a] == 1);
        self.block.is_some_and(|b| b.length > 1 && is_row(b) && alone(b))
    }

    /// Threads that share a row.
    fn group(&self) -> i64 {
        if self.has_scan {
            return power_above(self.chunks).clamp(32, 512);
        }
        let many_rows = self.block.is_some_and(|b| !b.partials.is_empty()) || self.points >= 8 * PROCESSORS;
        let most = match many_rows {
            true if self.chunks < CHUNKS * THREADS => THREADS,
            true => 2 * THREADS,
            false => 1024,
        };
        let least = power_below(self.chunks).min(32);
        let group = power_above((self.chunks + CHUNKS - 1) / CHUNKS).clamp(least, most);
        if group < THREADS && self.chunks > 32 * FEW_CHUNKS {
            return power_above((self.chunks + FEW_CHUNKS - 1) / FEW_CHUNKS).min(THREADS);
        }
        group
    }

    /// Rows in order, with states of every element that live across them.
    fn walked_rows(&self) -> Schedule {
        let whole = !self.has_scan && self.takes_whole_rows() && self.meets_once();
        let few = (ACCUMULATORS / self.kept).max(1);
        let threads = |each: i64| (self.chunks + each - 1) / each;
        let fewer = self.clusters && (whole || threads(few) > 2 * THREADS);
        let each = if fewer && (FEW_THREADS..=2 * THREADS).contains(&threads(2 * few)) { 2 * few } else { few };
        let most = if self.clusters { MOST_CLUSTER / 2 * THREADS } else { 512 };
        let group = match self.has_scan {
            true => self.group(),
            false => power_above(threads(each)).clamp(power_below(self.chunks).min(32), most),
        };
        let cluster = if group > 2 * THREADS { group / THREADS } else { 1 };
        let alone = whole && group >= FEW_THREADS;
        let threads = if cluster > 1 || self.in_order() || alone { group / cluster } else { group.max(THREADS) };
        let depth =
            if whole && group == threads && self.row.fits(LEAST_DEPTH, group, threads, self.clusters) { LEAST_DEPTH } else { 1 };
        let hold = if self.row.fits(2, group, threads, self.clusters) { Hold::Shared } else { Hold::Registers };
        Schedule { walkers: threads * cluster / group, group, cluster, unrolled: true, depth, hold, ..self.one() }
    }

    /// Chunks of results side by side, and other threads along what is reduced.
    fn columns(&self) -> Schedule {
        let columns = self.points / self.lanes;
        let few = self.block.is_none() && columns / 32 < PROCESSORS;
        let merges = self.flat.values.iter().any(|v| matches!(v.def, FlatDef::Merge { .. }));
        if few && columns >= FEW_RESULTS && !merges {
            let points = power_below(columns / FEW_RESULTS).min(32);
            let group = (1024 / points).min(power_above(self.chunks / FEW_CHUNKS)).max(32 / points);
            return Schedule { points, group, strided: true, ..self.one() };
        }
        let lanes = if few { 1 } else { self.lanes };
        let points = power_above(self.points / lanes).min(32);
        let rest = if few { 1024 } else { THREADS } / points;
        let (walkers, group) = if self.block.is_some() { (rest, 1) } else { (1, rest.min(power_above(self.chunks))) };
        Schedule { points, walkers, group, lanes, strided: true, ..self.one() }
    }

    fn pointwise(&self, alone: bool) -> Schedule {
        let chunks = (self.points / self.lanes).max(1);
        let points = if alone { power_above(chunks).min(THREADS) } else { THREADS };
        let unroll = if !self.in_order() && chunks >= 2 * 8 * THREADS * PROCESSORS { 2 } else { 1 };
        Schedule { points, strided: true, unroll, ..self.one() }
    }

    /// Whether loads that later stages need again fit in registers.
    fn registers_hold(&self, group: i64) -> bool {
        let sets: Vec<AxisSet> = self.plan.keys().map(|l| l.axes).filter(|a| !a.is_empty()).collect();
        let Some(&first) = sets.first() else { return false };
        if sets.len() < 2 || sets.iter().any(|s| *s != first) || self.plan.keys().any(|l| !l.ends.is_empty()) {
            return false;
        }
        let chunks = self.flat.points(first) / if self.vector.is_some_and(|v| first.has(v)) { self.lanes } else { 1 };
        let steps = (chunks + group - 1) / group;
        let bytes = self.flat.values.iter().filter_map(|v| match &v.def {
            FlatDef::Load { arg, .. } if !v.free.and(self.flat.inner).is_empty() => Some(self.dtypes[*arg].size() as i64),
            _ => None,
        });
        let most = if group > 512 { HELD.1 } else { HELD.0 };
        bytes.sum::<i64>() * self.lanes * steps <= most && steps <= 4 * CHUNKS
    }
}

/// What shared memory would hold of a row.
#[derive(Default)]
struct Row {
    /// Bytes per chunk, if the hardware can copy all that several stages read.
    bytes: Option<i64>,
    /// Bytes per chunk of what every row reads.
    fixed: i64,
    /// Nothing else is read, and little is computed.
    light: bool,
    chunks: i64,
}

impl Row {
    /// Blocks that share the row and threads of each; `None` where a block's registers suffice, or shared memory does not.
    fn shares(&self, clusters: bool) -> Option<(i64, i64)> {
        let bytes = self.bytes?;
        let row = bytes * self.chunks;
        let share = if self.light { SHARE / 2 } else { SHARE };
        let cluster = match (row, clusters) {
            (_, false) => 1,
            (row, _) if row <= MOST_SHARE => 1,
            (row, _) if row > MOST_CLUSTER / 2 * MOST_SHARE => MOST_CLUSTER,
            (row, _) => power_above((row + share - 1) / share).min(MOST_CLUSTER / 2),
        };
        let (each, least) = if cluster == 1 { (FEW_HELD / 2, 128) } else { (FEW_HELD, THREADS) };
        let threads = power_above((row / cluster + each - 1) / each).clamp(least, 2 * THREADS);
        let steps = (self.chunks + THREADS - 1) / THREADS;
        let few = cluster == 1 && bytes * steps <= FEW_HELD;
        (!few && row <= cluster * ALONE_SHARE).then_some((cluster, threads))
    }

    /// Blocks that share each of many long rows, one row after another, threads of each, and rows that they hold.
    fn streams(&self, rows: i64) -> Option<(i64, i64, i64)> {
        let row = self.bytes? * self.chunks;
        let parts = |cluster: i64| SHARED_BY_STREAM * cluster / row;
        let share = if self.bytes? > ACCESS { MOST_SHARE / 2 } else { MOST_SHARE };
        let few = power_above((row + share - 1) / share);
        let cluster = [few.min(MOST_CLUSTER / 2), MOST_CLUSTER].into_iter().find(|&c| parts(c) >= LEAST_DEPTH)?;
        let many = cluster > 1 && rows >= MANY_ROWS * PROCESSORS / cluster;
        let again = !self.light || row > MOST_CLUSTER / 2 * SHARE;
        let steps = |threads: i64| (self.chunks + cluster * threads - 1) / (cluster * threads);
        let threads = power_above(row / cluster / FEW_STREAMED).clamp(2 * THREADS, 4 * THREADS);
        let threads = if self.fixed * steps(threads) <= FEW_FIXED { threads } else { 2 * THREADS };
        (many && again).then_some((cluster, threads, parts(cluster).min(MOST_DEPTH)))
    }

    /// Whether shared memory holds so many steps of a walk, for `threads` of a group.
    fn fits(&self, depth: i64, group: i64, threads: i64, clusters: bool) -> bool {
        let steps = (self.chunks + group - 1) / group;
        self.bytes.is_some_and(|bytes| depth * bytes * steps * threads <= most_ahead(threads, clusters))
    }
}

/// Bytes of shared memory that what a block of a walk reads ahead may take.
pub(super) fn most_ahead(threads: i64, clusters: bool) -> i64 {
    (SHARED * threads / WALKING - STATIC).min(if clusters { SHARED } else { ALONE_SHARE })
}

/// Bytes that loads over a row which no row changes take per chunk.
fn fixed_bytes(order: &Stages<'_>, lanes: i64, dtypes: &[DType]) -> i64 {
    let flat = order.flat;
    let bytes = |v: ValueId| match &flat.value(v).def {
        FlatDef::Load { arg, .. } if flat.live(flat.value(v).free.and(flat.parallel())).is_empty() => dtypes[*arg].size() as i64,
        _ => 0,
    };
    let over_row = |v: &ValueId| !order.inner_of(flat.value(*v).free).is_empty();
    plain_loads(order).into_iter().filter(over_row).map(bytes).sum::<i64>() * lanes
}

/// Bytes that the loads which several stages read take per chunk, if shared memory can hold them.
fn held_bytes(
    order: &Stages<'_>,
    plan: &Plan,
    vector: Option<usize>,
    lanes: i64,
    dtypes: &[DType],
    moves: &dyn Fn(&FlatValue) -> bool,
) -> Option<i64> {
    let again = read_again(order, plan);
    let bytes = again
        .iter()
        .filter(|&&v| moves(order.flat.value(v)))
        .map(|&v| copied_bytes(order.flat, v, vector, lanes, dtypes))
        .sum::<Option<i64>>()?;
    (bytes > 0).then_some(bytes)
}

/// Blocks that walk over rows of so many elements at once, with sums for each element: clusters, for the longest.
fn walking_blocks(elements: i64) -> i64 {
    match power_above(elements / 32) {
        threads if threads < FEW_THREADS => PROCESSORS * WALKING / THREADS,
        threads if threads <= WALKING => PROCESSORS * (WALKING / threads).min(MOST_WALKS),
        _ => PROCESSORS * WALKING / (elements / 16),
    }
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
        let bytes = held_bytes(&order, &order.plan(), vector, lanes, self.dtypes, &|_| true).filter(|_| is_row);
        let row = Row { bytes, chunks: flat.points(inner) / lanes, ..Row::default() };
        row.shares(true).is_some_and(|(cluster, _)| cluster > 1)
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
        let long_rows = self.rows_together(flat) == 1 && inner >= LEAST_BLOCK;
        let wanted = match (kept, long_rows) {
            (true, _) => walking_blocks(inner),
            (_, true) => PROCESSORS * 4 * RESIDENT / THREADS,
            _ => PROCESSORS * RESIDENT / THREADS,
        };
        let together = self.rows_together(flat);
        let work = points.saturating_mul(rows.clamp(1, together));
        (work / LEAST_BLOCK).min(wanted / (rows / together).max(1)).max(1)
    }
    fn grain(&self, flat: &Flat, _: Tiles, axis: usize) -> i64 {
        let (vector, lanes) = vector(flat, self.dtypes);
        if vector == Some(axis) { lanes } else { 1 }
    }
}
