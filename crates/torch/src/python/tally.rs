//! Counts and times of calls.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often something ran, and for how long.
#[derive(Default)]
pub(super) struct Tally {
    calls: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Tally {
    /// Runs and counts; what fails counts too.
    pub(super) fn count<T>(&self, run: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = run();
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.nanoseconds.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        result
    }

    /// Number of calls.
    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Time of all calls.
    pub(super) fn time(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed))
    }
}
