//! Deviations from the schedule that sizes suggest, for a tuner to try.

use crate::flat::{Flat, FlatDef};

use super::hold::Hold;
use super::schedule::Schedule;

/// Most threads of a block.
const MOST_THREADS: i64 = 1024;
/// Threads that run in step: no group is made smaller than that.
const WARP: i64 = 32;
/// Most points that a thread takes at once.
const MOST_UNROLL: i64 = 4;

/// How all nests of a kernel deviate from their usual schedules, as far as they can. Numbers are powers of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Choice {
    /// Adjacent points that a thread takes.
    pub lanes: i32,
    /// Threads that share a row, or the steps of a walk; or, where none do, threads of a block.
    pub threads: i32,
    /// Rows of a block.
    pub rows: i32,
    /// Points that a thread takes at once.
    pub unroll: i32,
    /// What several stages of a row read is held in the next worse place: registers instead of shared memory, nowhere instead of
    /// registers; where several rows are held, one is.
    pub worse_hold: bool,
    /// Blocks do not share rows.
    pub no_clusters: bool,
}

const USUAL: Choice = Choice { lanes: 0, threads: 0, rows: 0, unroll: 0, worse_hold: false, no_clusters: false };

impl Choice {
    /// What is worth trying, the usual first. Some are the same for a given kernel.
    pub const ALL: [Choice; 12] = [
        USUAL,
        Choice { threads: 1, ..USUAL },
        Choice { threads: -1, ..USUAL },
        Choice { threads: -2, ..USUAL },
        Choice { rows: 1, ..USUAL },
        Choice { rows: -1, ..USUAL },
        Choice { lanes: -1, ..USUAL },
        Choice { unroll: 1, ..USUAL },
        Choice { unroll: -1, ..USUAL },
        Choice { worse_hold: true, ..USUAL },
        Choice { no_clusters: true, ..USUAL },
        Choice { no_clusters: true, worse_hold: true, ..USUAL },
    ];

    /// The schedule of a nest, which may walk in order, under this choice.
    pub(super) fn of(self, usual: Schedule, flat: &Flat, walks: bool) -> Schedule {
        let in_order =
            flat.stores.iter().any(|s| s.collides) || flat.values.iter().any(|v| matches!(v.def, FlatDef::Scan { .. }));
        if self == USUAL || in_order {
            return usual;
        }
        let mut s = usual.clone();
        if self.worse_hold && s.depth > 1 {
            return Schedule { depth: 1, unrolled: false, ..s };
        }
        if self.worse_hold && !walks && s.cluster == 1 {
            (s.hold, s.unrolled) = match s.hold {
                Hold::Shared => (Hold::Registers, true),
                Hold::Registers | Hold::Nowhere => (Hold::Nowhere, false),
            };
        }
        if s.hold != Hold::Shared {
            s.lanes = scaled(s.lanes, self.lanes).clamp(1, usual.lanes);
        }
        if s.group == 1 && s.walkers == 1 && flat.live(flat.inner).is_empty() {
            s.unroll = scaled(s.unroll, self.unroll).clamp(1, MOST_UNROLL);
        }
        let most = MOST_THREADS / usual.threads().max(1);
        match (s.cluster, s.group, s.walkers) {
            (1, 1, 1) => s.points = resized(s.points, self.threads, most),
            (1, 1, _) => s.walkers = resized(s.walkers, self.threads, most),
            (1, ..) => s.group = resized(s.group, self.threads, most),
            _ if s.depth > 1 => s.group = resized(s.group, self.threads, most),
            _ => {}
        }
        if s.group > 1 && s.cluster == 1 && (s.walkers == 1 || s.strided) {
            let most = MOST_THREADS / s.threads().max(1);
            s.points = scaled(s.points, self.rows).clamp(1, s.points * most.max(1));
        }
        s
    }
}

fn scaled(number: i64, power: i32) -> i64 {
    if power < 0 { number >> -power } else { number << power }
}

/// A number of threads that is not made smaller than a warp, nor so large that a block has too many.
fn resized(threads: i64, power: i32, most: i64) -> i64 {
    scaled(threads, power).clamp(threads.min(WARP), threads * most.max(1))
}
