//! Runs loop nests: grid points over threads, stages and inner loops at each.

use std::ops::Range;

use base::Result;
use program::{Nest, Param};
use smallvec::SmallVec;

use super::code::Prepared;
use super::frame::{Frame, Tile};
use super::layout::Extents;
use super::prepare::{self, Context, List};
use super::run::run_tile;
use super::sink::CheckSink;
use super::window::Window;
use crate::cpu::threads::ThreadPool;
use simd::copy;

/// Below this many element operations a nest runs on the calling thread.
const SMALL: usize = 20_000;
/// Chunks of grid points for each worker: enough that a late one does not wait long.
const CHUNKS_PER_WORKER: usize = 8;

/// A loop over the points of an axis.
#[derive(Clone, Copy, Debug)]
struct Loop {
    axis: usize,
    extent: i64,
    step: i64,
}

impl Loop {
    fn count(&self) -> usize {
        (self.extent.max(0) as usize).div_ceil(self.step as usize)
    }
}

/// Numbers of a stage's code lists, `None` where there is no code, and its loops.
#[derive(Debug)]
struct StagePlan {
    init: Option<usize>,
    code: Option<usize>,
    finish: Option<usize>,
    inner: SmallVec<[Loop; 6]>,
    /// Steps over all inner axes.
    trips: usize,
    /// One pass over the tile that does what `init` and all steps do.
    window: Option<Window>,
}

/// A block of an axis that a grid point takes in order, and what runs around it.
#[derive(Debug)]
struct SequencePlan {
    over: Loop,
    /// Loops at each step of the block, and their trips.
    within: SmallVec<[Loop; 6]>,
    trips: usize,
    block: usize,
    length: i64,
    before: Vec<StagePlan>,
    after: Vec<StagePlan>,
}

/// A nest that is ready to run with any pointers.
#[derive(Debug)]
pub struct PreparedNest {
    code: Prepared,
    extents: Vec<i64>,
    grid: SmallVec<[Loop; 6]>,
    points: usize,
    rows: Option<Tiled>,
    cols: Option<Tiled>,
    stages: Vec<StagePlan>,
    sequence: Option<SequencePlan>,
    serial: bool,
    work: usize,
    /// Write results past the caches (for outputs that no cache can hold).
    pub stream: bool,
}

/// A direction of the tile.
#[derive(Clone, Copy, Debug)]
struct Tiled {
    axis: usize,
    tile: usize,
    /// Every list sees the tile's extent, not only those that loop over the axis.
    everywhere: bool,
}

/// Prepares a nest.
///
/// # Errors
/// An instruction that no loop exists for: an internal error, as the verifier accepts none.
pub fn prepare_nest(nest: &Nest, params: &[Param]) -> Result<PreparedNest> {
    let lists = lists(nest);
    let views: Vec<List<'_>> = lists.iter().map(|l| List { init: l.init, code: l.code, result: None }).collect();
    let (row_axis, col_axis) = (nest.rows.map(|t| t.axis), nest.cols.map(|t| t.axis));
    let context = Context { params, row_axis, col_axis, extents: extents(nest) };
    let code = prepare::code(&nest.regs, &views, &context)?;
    let step = |axis: usize| {
        let tiled = [nest.rows, nest.cols].into_iter().flatten().find(|t| t.axis == axis);
        Loop { axis, extent: nest.extents[axis], step: tiled.map_or(1, |t| t.tile.max(1) as i64) }
    };
    let grid: SmallVec<[Loop; 6]> = nest.grid.iter().map(|&a| step(a)).collect();
    let mut plans = nest.all_stages().enumerate().map(|(s, stage)| {
        let number = |k: usize| (!code.lists[3 * s + k].is_empty()).then_some(3 * s + k);
        let over = |&a: &usize| Loop { extent: stage.end(a, nest.extents[a]), ..step(a) };
        let inner: SmallVec<[Loop; 6]> = stage.inner.iter().map(over).collect();
        let trips = inner.iter().map(Loop::count).product();
        StagePlan { init: number(0), code: number(1), finish: number(2), inner, trips, window: Window::of(nest, s, params) }
    });
    let before = plans.by_ref().take(nest.sequence.as_ref().map_or(0, |s| s.before.len())).collect();
    let stages: Vec<StagePlan> = plans.by_ref().take(nest.stages.len()).collect();
    let after = plans.collect();
    let sequence = nest.sequence.as_ref().map(|s| {
        let within: SmallVec<[Loop; 6]> = s.within.iter().map(|&a| step(a)).collect();
        let trips = within.iter().map(Loop::count).product();
        SequencePlan { over: step(s.axis), within, trips, block: s.block, length: s.length, before, after }
    });
    let points: usize = grid.iter().map(Loop::count).product();
    let tiled = |t: Option<program::TileAxis>| {
        let sequential = |axis: usize| nest.sequence.as_ref().is_some_and(|s| s.axes().any(|a| a == axis));
        t.map(|t| Tiled { axis: t.axis, tile: t.tile.max(1), everywhere: nest.grid.contains(&t.axis) || sequential(t.axis) })
    };
    let tile: usize = [nest.rows, nest.cols].into_iter().flatten().map(|t| t.tile.max(1)).product();
    let trips: usize = stages.iter().map(|s| s.trips).sum();
    let steps = sequence.as_ref().map_or(1, |s| (s.length / s.over.step) as usize * s.trips);
    let work = points.saturating_mul(tile).saturating_mul(code.steps()).saturating_mul(trips.max(1)).saturating_mul(steps);
    Ok(PreparedNest {
        code,
        extents: nest.extents.clone(),
        grid,
        points,
        rows: tiled(nest.rows),
        cols: tiled(nest.cols),
        stages,
        sequence,
        serial: nest.serial,
        work,
        stream: false,
    })
}

/// Three lists per stage: init, code, finish.
fn lists(nest: &Nest) -> Vec<List<'_>> {
    let mut lists = Vec::with_capacity(3 * nest.stages.len());
    for stage in nest.all_stages() {
        lists.push(List { init: &stage.init, code: &[], result: None });
        lists.push(List { init: &[], code: &stage.code, result: None });
        lists.push(List { init: &[], code: &stage.finish, result: None });
    }
    lists
}

fn extents(nest: &Nest) -> Extents {
    let loops = |axis: usize| nest.all_stages().any(|s| s.inner.contains(&axis));
    let size = |t: Option<program::TileAxis>| {
        t.map_or((1, 1), |t| {
            let extent = nest.extents[t.axis].max(1) as usize;
            (t.tile.max(1), if loops(t.axis) { extent.max(t.tile) } else { t.tile.max(1) })
        })
    };
    let (rows, cols) = (size(nest.rows), size(nest.cols));
    let tiled = |axis: usize| [nest.rows, nest.cols].into_iter().flatten().any(|t| t.axis == axis);
    let inner = (0..nest.extents.len()).filter(|&a| loops(a) && !tiled(a));
    Extents {
        tile: (rows.0, cols.0),
        whole: (rows.1, cols.1),
        inner: inner.map(|a| (a, nest.extents[a].max(1) as usize)).collect(),
    }
}

/// What all tiles of one run share.
struct Run<'a> {
    nest: &'a PreparedNest,
    ptrs: &'a [*mut u8],
    sink: &'a CheckSink,
}

// SAFETY: grid points write disjoint memory (or the nest is serial), so threads may share the pointers.
unsafe impl Sync for Run<'_> {}

/// Runs nests side by side on all workers of the pool. Results do not depend on the number of workers.
///
/// # Safety
/// `ptrs` holds one pointer per parameter of the program that the nests were prepared for, valid for the parameter's
/// elements; no nest reads what another writes, and nothing else touches that memory meanwhile.
pub unsafe fn run_nests(nests: &[PreparedNest], ptrs: &[*mut u8], pool: &ThreadPool, sink: &CheckSink) {
    let run = move |nest| Run { nest, ptrs, sink };
    let work = nests.iter().fold(0usize, |sum, n| sum.saturating_add(n.work));
    let tasks = nests.iter().all(|n| n.points <= 1) && nests.len() <= 1;
    if tasks || work < SMALL || pool.threads() == 1 {
        // SAFETY: same contract.
        nests.iter().for_each(|n| unsafe { run(n).points(0, n.points) });
        return;
    }
    let parts = nests.iter().flat_map(|n| chunks(n, work, pool.threads()).map(move |points| (run(n), points)));
    let parts: Vec<(Run<'_>, Range<usize>)> = parts.collect();
    pool.run(parts.len(), &|task, _| {
        let (run, points) = &parts[task];
        // SAFETY: same contract; tasks take disjoint grid points.
        unsafe { run.points(points.start, points.end) };
    });
}

/// Ranges of a nest's grid points, of about equal work: its share of all chunks, or one where points must run in order.
fn chunks(nest: &PreparedNest, all: usize, threads: usize) -> impl Iterator<Item = Range<usize>> {
    let share = (threads * CHUNKS_PER_WORKER) as f64 * nest.work as f64 / all as f64;
    let count = if nest.serial { 1 } else { (share.ceil() as usize).clamp(1, nest.points.max(1)) };
    let chunk = nest.points.div_ceil(count).max(1);
    let points = nest.points;
    (0..points.div_ceil(chunk)).map(move |k| k * chunk..((k + 1) * chunk).min(points))
}

impl Run<'_> {
    /// Grid points `from..to`.
    unsafe fn points(&self, from: usize, to: usize) {
        Frame::with(|frame| {
            frame.bind(&self.nest.code);
            let mut index: SmallVec<[i64; 8]> = SmallVec::from_elem(0, self.nest.extents.len());
            seek(&self.nest.grid, from, &mut index);
            for _ in from..to {
                // SAFETY: the caller's contract.
                unsafe { self.point(frame, &mut index) };
                advance(&self.nest.grid, &mut index);
            }
            if self.nest.stream {
                copy::fence();
            }
        });
    }

    unsafe fn point(&self, frame: &mut Frame, index: &mut [i64]) {
        // SAFETY: the caller's contract.
        unsafe {
            let Some(s) = &self.nest.sequence else { return self.stages(&self.nest.stages, frame, index) };
            self.stages(&s.before, frame, index);
            let axis = s.over.axis;
            let start = index[s.block] * s.length;
            let end = (start + s.length).min(s.over.extent);
            index[axis] = start;
            while index[axis] < end {
                for _ in 0..s.trips {
                    self.stages(&self.nest.stages, frame, index);
                    advance(&s.within, index);
                }
                index[axis] += s.over.step;
            }
            index[axis] = 0;
            self.stages(&s.after, frame, index);
        }
    }

    unsafe fn stages(&self, stages: &[StagePlan], frame: &mut Frame, index: &mut [i64]) {
        for stage in stages {
            // SAFETY: the caller's contract.
            unsafe {
                let folded = stage.window.as_ref().is_some_and(|w| w.run(&self.nest.code, frame, &self.tile(None, index)));
                if !folded {
                    self.list(stage.init, None, frame, index);
                    if stage.code.is_some() {
                        for _ in 0..stage.trips {
                            self.list(stage.code, Some(stage), frame, index);
                            advance(&stage.inner, index);
                        }
                    }
                }
                self.list(stage.finish, None, frame, index);
            }
        }
    }

    /// The tile at `index`; directions that are neither in the grid nor looped over have extent 1.
    fn tile<'t>(&'t self, stage: Option<&StagePlan>, index: &'t [i64]) -> Tile<'t> {
        let size = |tiled: Option<Tiled>| {
            let Some(t) = tiled else { return 1 };
            let looped = stage.and_then(|s| s.inner.iter().find(|l| l.axis == t.axis)).map(|l| l.extent);
            let extent = looped.or(t.everywhere.then(|| self.nest.extents[t.axis]));
            extent.map_or(1, |extent| t.tile.min((extent - index[t.axis]) as usize))
        };
        Tile {
            ptrs: self.ptrs,
            index,
            rows: size(self.nest.rows),
            cols: size(self.nest.cols),
            acc: &[],
            stream: self.nest.stream,
            sink: self.sink,
        }
    }

    unsafe fn list(&self, list: Option<usize>, stage: Option<&StagePlan>, frame: &mut Frame, index: &[i64]) {
        let Some(list) = list else { return };
        // SAFETY: the caller's contract; the frame is bound.
        unsafe { run_tile(&self.nest.code, list, frame, &self.tile(stage, index)) };
    }
}

/// Sets the indices of loop step number `at`, the last loop innermost.
fn seek(loops: &[Loop], mut at: usize, index: &mut [i64]) {
    for l in loops.iter().rev() {
        let count = l.count().max(1);
        index[l.axis] = (at % count) as i64 * l.step;
        at /= count;
    }
}

/// Steps to the next point; after the last, back to the first.
#[inline]
fn advance(loops: &[Loop], index: &mut [i64]) {
    for l in loops.iter().rev() {
        index[l.axis] += l.step;
        if index[l.axis] < l.extent {
            return;
        }
        index[l.axis] = 0;
    }
}
