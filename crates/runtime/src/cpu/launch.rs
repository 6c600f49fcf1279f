//! What the phases of one launch share.

use std::sync::Arc;

use crate::cpu::gemm::PanelStore;
use crate::cpu::threads::ThreadPool;
use crate::cpu::vm::CheckSink;
use crate::memory::{Buffer, Pool};

/// Pointers and machinery of one launch.
pub(crate) struct Launch<'a> {
    /// One pointer per parameter, already offset.
    pub(crate) params: &'a [*mut u8],
    pub(crate) threads: &'a ThreadPool,
    pub(crate) pool: &'a Pool,
    /// Where run-time checks report.
    pub(crate) sink: &'a CheckSink,
    /// Where panels of frozen operands are kept.
    pub(crate) panels: &'a PanelStore,
    /// Buffer of each parameter, where it may be held beyond the launch; parameters after the last count as `None`.
    pub(crate) owners: &'a [Option<&'a Arc<Buffer>>],
}

// SAFETY: the pointers are used under the program's contract: parallel tasks write disjoint parts.
unsafe impl Sync for Launch<'_> {}

impl Launch<'_> {
    /// Runs numbered tasks, on the calling thread alone when one thread is enough.
    pub(crate) fn parallel(&self, threads: usize, tasks: usize, f: &(dyn Fn(usize) + Sync)) {
        if threads <= 1 { (0..tasks).for_each(f) } else { self.threads.run(tasks, &|task, _| f(task)) }
    }
}
