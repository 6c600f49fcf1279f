//! Deviations from the schedule that sizes suggest, for a tuner to try.

use crate::flat::{Flat, FlatDef};

use super::hold::Hold;
use super::schedule::{MOST_CLUSTER, Schedule};

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
    /// Blocks that share a row, where some do.
    pub blocks: i32,
    /// Blocks do not share rows.
    pub no_clusters: bool,
}

const USUAL: Choice = Choice { lanes: 0, threads: 0, rows: 0, unroll: 0, worse_hold: false, blocks: 0, no_clusters: false };

impl Choice {
    /// What is worth trying, the usual first. Some are the same for a given kernel.
    pub const ALL: [Choice; 18] = [
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
        Choice { blocks: 1, ..USUAL },
        Choice { blocks: 1, worse_hold: true, ..USUAL },
        Choice { blocks: 1, threads: -1, ..USUAL },
        Choice { blocks: 1, threads: 1, ..USUAL },
        Choice { blocks: -1, ..USUAL },
        Choice { blocks: -1, worse_hold: true, ..USUAL },
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
        if s.cluster > 1 {
            return self.of_clusters(s);
        }
        if self.worse_hold {
            s.depth = 1;
        }
        if self.worse_hold && !walks {
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
        match (s.group, s.walkers) {
            (1, 1) => s.points = resized(s.points, self.threads, most),
            (1, _) => s.walkers = resized(s.walkers, self.threads, most),
            _ => s.group = resized(s.group, self.threads, most),
        }
        if s.group > 1 && s.depth == 1 && (s.walkers == 1 || s.strided) {
            let most = MOST_THREADS / s.threads().max(1);
            s.points = scaled(s.points, self.rows).clamp(1, s.points * most.max(1));
        }
        s
    }

    /// The schedule of a nest of which blocks share rows: a part of a row is as much smaller as there are more blocks.
    fn of_clusters(self, usual: Schedule) -> Schedule {
        let cluster = scaled(usual.cluster, self.blocks).clamp(2, MOST_CLUSTER);
        let threads = resized(usual.threads(), self.threads, MOST_THREADS / usual.threads());
        let depth = match usual.depth {
            1 => 1,
            _ if self.worse_hold => 1,
            depth => (depth * cluster / usual.cluster).max(2),
        };
        let unrolled = usual.unrolled && (depth > 1 || usual.depth == 1);
        Schedule { cluster, group: cluster * threads, depth, unrolled, ..usual }
    }
}

fn scaled(number: i64, power: i32) -> i64 {
    if power < 0 { number >> -power } else { number << power }
}

/// A number of threads that is not made smaller than a warp, nor so large that a block has too many.
fn resized(threads: i64, power: i32, most: i64) -> i64 {
    scaled(threads, power).clamp(threads.min(WARP), threads * most.max(1))
}
