//! Per-thread working memory that launches reuse.

use std::cell::Cell;

use super::pack::Tables;

/// Working memory of one thread.
#[derive(Default)]
pub(crate) struct Scratch {
    lines: Vec<Line>,
    /// Tables of the packers.
    pub(crate) tables: Tables,
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code)] [u8; 64]);

thread_local! {
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

impl Scratch {
    /// Runs `f` with this thread's memory; a call inside `f` gets memory of its own.
    pub(crate) fn with<R>(f: impl FnOnce(&mut Scratch) -> R) -> R {
        let mut scratch = SCRATCH.take().unwrap_or_default();
        let result = f(&mut scratch);
        SCRATCH.set(Some(scratch));
        result
    }

    /// Room for `counts` elements of T, each part starting at a cache line; contents are unspecified but initialised.
    pub(crate) fn parts<T: Copy, const N: usize>(&mut self, counts: [usize; N]) -> ([*mut T; N], &mut Tables) {
        let lines = counts.map(|n| (n * size_of::<T>()).div_ceil(size_of::<Line>()));
        let total = lines.iter().sum::<usize>();
        if self.lines.len() < total {
            self.lines.resize(total, Line([0; 64]));
        }
        let mut at = self.lines.as_mut_ptr();
        let parts = lines.map(|n| {
            let part = at.cast::<T>();
            at = at.wrapping_add(n);
            part
        });
        (parts, &mut self.tables)
    }
}
