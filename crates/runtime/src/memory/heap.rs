//! Where a pool's blocks come from.

use std::sync::Arc;

use base::Result;

use super::system::{self, Block, LINE, WATCHED};
use crate::cuda::Context;

/// Buffers of at least this size start at a varying offset in a page, so that streams over several do not alias in L1.
const COLOURED: usize = 16 << 10;
/// Room for the offset.
pub(super) const COLOUR_ROOM: usize = 4096;
/// Alignment of a GPU's buffers.
const GPU_LINE: usize = 512;
/// What a GPU's driver allocates by.
const GPU_PAGE: usize = 2 << 20;

/// Most that a GPU's large buffers are rounded up by.
const GPU_STEP: usize = 64 << 20;

/// The source of blocks.
#[derive(Clone, Debug)]
pub(crate) enum Heap {
    Host,
    Gpu(Arc<Context>),
}

impl Heap {
    /// Bytes that may be used.
    pub(super) fn limit(&self) -> usize {
        match self {
            Heap::Host => system::limit(),
            Heap::Gpu(context) => context.about.memory,
        }
    }
    /// A block of exactly `bytes` (positive), or `None` when there is no memory for it.
    pub(super) fn block(&self, bytes: usize) -> Result<Option<Block>> {
        match self {
            Heap::Host => Ok(Block::new(bytes)),
            Heap::Gpu(context) => Ok(context.allocate(bytes)?.map(|start| Block::over(start, bytes))),
        }
    }
    /// Returns blocks, which nothing uses that begins from now on.
    pub(super) fn release(&self, blocks: impl Iterator<Item = Block>) {
        match self {
            Heap::Host => blocks.for_each(Block::release),
            Heap::Gpu(context) => {
                let mut blocks = blocks.peekable();
                if blocks.peek().is_some() {
                    context.settle();
                }
                blocks.for_each(|b| context.free(b.start()));
            }
        }
    }
    /// The number of the calling thread's recording; 0 without one.
    pub(super) fn recording(&self) -> u32 {
        if let Heap::Gpu(context) = self { context.recording() } else { 0 }
    }
    /// Whether a sanitizer watches: every buffer is then a block of its own size, which goes back as soon as it is dropped.
    pub(super) fn is_watched(&self) -> bool {
        match self {
            Heap::Host => WATCHED,
            Heap::Gpu(context) => context.watch,
        }
    }
    /// Whether a buffer starts at a varying offset.
    pub(super) fn is_coloured(&self, bytes: usize) -> bool {
        bytes >= COLOURED && !WATCHED && matches!(self, Heap::Host)
    }
    /// Bytes of the block for a request: four classes per doubling, plus room for the colour.
    pub(super) fn size_class(&self, bytes: usize) -> Option<usize> {
        if bytes > isize::MAX as usize / 4 {
            return None;
        }
        let eighth = bytes.next_power_of_two() / 8;
        match self {
            _ if self.is_watched() => Some(bytes),
            Heap::Gpu(_) if bytes >= GPU_PAGE / 2 => Some(bytes.next_multiple_of(eighth.clamp(GPU_PAGE, GPU_STEP))),
            Heap::Gpu(_) => Some(bytes.next_multiple_of(eighth.max(GPU_LINE))),
            Heap::Host => {
                let bytes = if self.is_coloured(bytes) { bytes + COLOUR_ROOM } else { bytes };
                Some(bytes.next_multiple_of((bytes.next_power_of_two() / 8).max(LINE)))
            }
        }
    }
    /// The largest kept block that may serve a class: on the host a larger block in use costs nothing more, a new one costs fresh
    /// pages; a GPU's memory is scarce.
    pub(super) fn roomy(&self, class: usize) -> usize {
        match self {
            Heap::Gpu(_) if class >= GPU_PAGE => class.saturating_add(class / 4),
            _ => class.saturating_mul(4),
        }
    }
    /// What else is to be told when memory runs out.
    pub(super) fn shortage(&self) -> String {
        match self {
            Heap::Host => String::new(),
            Heap::Gpu(context) => {
                let free = context.free_memory().map_or_else(|e| e.to_string(), |(free, all)| format!("{free} of {all}"));
                format!(" on cuda:{}, where {free} bytes are free to all processes", context.ordinal)
            }
        }
    }
}
