//! The caching allocator.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::{Error, ErrorKind, Result};

use super::buffer::Buffer;
use super::heap::{COLOUR_ROOM, Heap};
use super::system::{Block, LINE};
use crate::cuda::Context;

/// Statistics of a [`Pool`], in bytes unless said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// In live buffers, rounded up to their size classes.
    pub allocated: usize,
    /// Taken from the system: live and cached.
    pub reserved: usize,
    /// Most that `allocated` has been.
    pub peak: usize,
    /// Live buffers (a count).
    pub count: usize,
    /// Requests served so far (a count).
    pub requests: u64,
    /// Requests that had to ask the system (a count).
    pub misses: u64,
    /// Kept by recordings.
    pub recorded: usize,
}

/// A caching allocator: dropped buffers are kept by size class and handed out again, because a fresh page costs far
/// more than a used one. Cloning gives another handle to the same pool.
///
/// A GPU's pool hands a block out again as soon as its buffer was dropped, although programs may still have to run on it: they run
/// before whatever is launched on the new buffer.
#[derive(Clone, Debug)]
pub struct Pool {
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(super) struct Shared {
    heap: Heap,
    limit: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    free: Blocks,
    /// Blocks that only one recording may use, by its number.
    recordings: BTreeMap<u32, Own>,
    stats: PoolStats,
    colour: usize,
}

/// Blocks that are not in use, by size.
type Blocks = BTreeMap<usize, Vec<Block>>;

/// The memory of a recording.
#[derive(Debug, Default)]
struct Own {
    /// What no buffer holds now.
    free: Blocks,
    /// Everything.
    bytes: usize,
}

impl Default for Pool {
    fn default() -> Self {
        Pool::new()
    }
}

impl Pool {
    /// A pool limited by the machine's memory.
    pub fn new() -> Pool {
        Pool::with_limit(Heap::Host.limit())
    }
    /// The pool of a GPU.
    pub(crate) fn on_gpu(context: Arc<Context>) -> Pool {
        let heap = Heap::Gpu(context);
        Pool { shared: Arc::new(Shared { limit: heap.limit(), heap, state: Mutex::default() }) }
    }
    /// A pool that never reserves more than `limit` bytes.
    pub fn with_limit(limit: usize) -> Pool {
        Pool { shared: Arc::new(Shared { heap: Heap::Host, limit, state: Mutex::default() }) }
    }

    /// A buffer of `bytes` bytes with unspecified contents.
    ///
    /// # Errors
    /// `OutOfMemory` naming the wanted, used, kept and peak bytes.
    pub fn alloc(&self, bytes: usize) -> Result<Buffer> {
        self.take(bytes, &mut self.shared.state())
    }

    /// Buffers of these sizes, in one go.
    ///
    /// # Errors
    /// As [`Pool::alloc`].
    pub fn alloc_all(&self, sizes: impl IntoIterator<Item = usize>) -> Result<Vec<Buffer>> {
        // Buffers give their blocks back to the state, so they are dropped after its guard.
        let mut made = Vec::new();
        let mut state = self.shared.state();
        for bytes in sizes {
            made.push(self.take(bytes, &mut state)?);
        }
        drop(state);
        Ok(made)
    }

    /// Bytes that a buffer of `bytes` bytes takes, where no larger block is kept: those of its size class.
    pub fn rounded(&self, bytes: usize) -> usize {
        if bytes == 0 { 0 } else { self.shared.heap.size_class(bytes).unwrap_or(bytes) }
    }

    fn take(&self, bytes: usize, state: &mut State) -> Result<Buffer> {
        if bytes == 0 {
            return Ok(Buffer::empty());
        }
        let (shared, recording) = (&self.shared, self.shared.heap.recording());
        let size = shared.heap.size_class(bytes).filter(|&size| size <= shared.limit);
        let size = size.ok_or_else(|| self.out_of_memory(bytes, state))?;
        let most = shared.heap.roomy(size);
        let block = match state.cached(size, most, recording) {
            Some(block) => block,
            None => self.fresh(size, recording, state)?.ok_or_else(|| self.out_of_memory(bytes, state))?,
        };
        state.stats.requests += 1;
        state.stats.count += 1;
        state.stats.allocated += block.bytes();
        state.stats.peak = state.stats.peak.max(state.stats.allocated);
        let offset = if shared.heap.is_coloured(bytes) { state.next_colour() } else { 0 };
        Ok(Buffer::pooled(shared.clone(), block, recording, offset, bytes))
    }

    fn fresh(&self, size: usize, recording: u32, state: &mut State) -> Result<Option<Block>> {
        let Shared { heap, limit, .. } = &*self.shared;
        state.stats.misses += 1;
        if size > limit - state.stats.reserved {
            state.trim(heap);
        }
        if size > limit - state.stats.reserved {
            return Ok(None);
        }
        let mut block = heap.block(size)?;
        if block.is_none() {
            state.trim(heap);
            block = heap.block(size)?;
        }
        if block.is_some() {
            state.stats.reserved += size;
            state.record(recording, size);
        }
        Ok(block)
    }

    fn out_of_memory(&self, bytes: usize, state: &State) -> Error {
        let PoolStats { allocated, reserved, peak, count, recorded, .. } = state.stats;
        let text = format!(
            "out of memory{}: wanted {bytes} bytes with {allocated} bytes in use by {count} buffers (reserved {reserved}, of which \
             recordings keep {recorded}; peak {peak}, limit {}); use a smaller batch or free tensors",
            self.shared.heap.shortage(),
            self.shared.limit
        );
        Error::new(ErrorKind::OutOfMemory, text)
    }

    /// From now on blocks of the recording with this number are kept for it.
    pub(crate) fn begin_recording(&self, number: u32) {
        self.shared.state().recordings.insert(number, Own::default());
    }
    /// Blocks of the recording may serve anybody.
    pub(crate) fn end_recording(&self, number: u32) {
        let mut state = self.shared.state();
        let own = state.recordings.remove(&number).unwrap_or_default();
        state.stats.recorded -= own.bytes;
        for (size, blocks) in own.free {
            state.free.entry(size).or_default().extend(blocks);
        }
    }
    /// Bytes that a recording keeps.
    pub(crate) fn recorded(&self, number: u32) -> usize {
        self.shared.state().recordings.get(&number).map_or(0, |own| own.bytes)
    }

    /// Whether it is memory of a GPU.
    pub fn is_on_gpu(&self) -> bool {
        self.shared.gpu().is_some()
    }
    /// Current statistics.
    pub fn stats(&self) -> PoolStats {
        self.shared.state().stats
    }
    /// Makes the present use the peak.
    pub fn reset_peak(&self) {
        let mut state = self.shared.state();
        state.stats.peak = state.stats.allocated;
    }
    /// Returns all cached memory to the system.
    pub fn trim(&self) {
        self.shared.state().trim(&self.shared.heap);
    }
}

impl Shared {
    /// The GPU whose memory it is.
    pub(super) fn gpu(&self) -> Option<&Arc<Context>> {
        if let Heap::Gpu(context) = &self.heap { Some(context) } else { None }
    }
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    pub(super) fn take_back(&self, block: Block, recording: u32) {
        let mut state = self.state();
        state.stats.count -= 1;
        state.stats.allocated -= block.bytes();
        let State { free, recordings, .. } = &mut *state;
        let blocks = recordings.get_mut(&recording).map_or(free, |own| &mut own.free);
        blocks.entry(block.bytes()).or_default().push(block);
        if self.heap.is_watched() {
            state.trim(&self.heap);
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.state().trim(&self.heap);
    }
}

impl State {
    /// The smallest kept block of a class, or of one up to `most`; in a recording its own blocks come first.
    fn cached(&mut self, size: usize, most: usize, recording: u32) -> Option<Block> {
        let find = |blocks: &mut Blocks| blocks.range_mut(size..=most).find_map(|(_, blocks)| blocks.pop());
        if let Some(block) = self.recordings.get_mut(&recording).and_then(|own| find(&mut own.free)) {
            return Some(block);
        }
        let block = find(&mut self.free)?;
        self.record(recording, block.bytes());
        Some(block)
    }
    /// Memory becomes that of a recording, if there is one with this number.
    fn record(&mut self, recording: u32, bytes: usize) {
        if let Some(own) = self.recordings.get_mut(&recording) {
            own.bytes += bytes;
            self.stats.recorded += bytes;
        }
    }
    fn trim(&mut self, heap: &Heap) {
        let blocks: Vec<Block> = std::mem::take(&mut self.free).into_values().flatten().collect();
        self.stats.reserved -= blocks.iter().map(Block::bytes).sum::<usize>();
        heap.release(blocks.into_iter());
    }
    /// Offset of the next large buffer: an odd number of lines, different from its neighbours'.
    fn next_colour(&mut self) -> usize {
        self.colour = (self.colour + 10) % (COLOUR_ROOM / LINE);
        (self.colour | 1) * LINE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(fuseline_sanitize, ignore = "nothing is cached")]
    fn dropped_buffers_are_reused_and_counted() {
        let pool = Pool::with_limit(64 << 20);
        let a = pool.alloc(100_000).unwrap();
        let reserved = pool.stats().reserved;
        assert!(pool.stats().allocated >= 100_000 && pool.stats().count == 1);
        drop(a);
        assert_eq!((pool.stats().allocated, pool.stats().count), (0, 0));
        let _b = pool.alloc(99_000).unwrap();
        assert_eq!((pool.stats().reserved, pool.stats().misses, pool.stats().requests), (reserved, 1, 2));
    }

    #[test]
    #[cfg_attr(fuseline_sanitize, ignore = "nothing is cached")]
    fn a_kept_block_serves_smaller_requests_but_not_much_smaller_ones() {
        let pool = Pool::new();
        drop(pool.alloc(1 << 20).unwrap());
        let (reserved, half) = (pool.stats().reserved, pool.alloc(1 << 19).unwrap());
        assert_eq!((pool.stats().reserved, pool.stats().allocated), (reserved, reserved));
        drop(half);
        let _small = pool.alloc(1 << 17).unwrap();
        assert!(pool.stats().reserved > reserved);
    }

    #[test]
    #[cfg_attr(fuseline_sanitize, ignore = "nothing is coloured")]
    fn buffers_are_aligned_and_coloured() {
        let pool = Pool::new();
        let live: Vec<_> = [0, 1, 63, 64, 5000, 70_000, 3 << 20, 3 << 20, 9 << 20].map(|n| pool.alloc(n).unwrap()).into();
        for buffer in &live {
            assert_eq!(buffer.as_ptr() as usize % LINE, 0);
            buffer.write(0, &vec![7; buffer.len()]).unwrap();
        }
        assert_ne!(live[6].as_ptr() as usize % 4096, live[7].as_ptr() as usize % 4096);
    }

    #[test]
    fn limits_are_errors_with_numbers() {
        let pool = Pool::with_limit(1 << 20);
        let a = pool.alloc(512 << 10).unwrap();
        for wanted in [600 << 10, 2 << 20, usize::MAX, isize::MAX as usize] {
            let error = pool.alloc(wanted).unwrap_err();
            assert_eq!(error.kind, ErrorKind::OutOfMemory);
            assert!(error.to_string().contains(&format!("wanted {wanted} bytes")), "{error}");
        }
        drop(a);
        pool.alloc(600 << 10).expect("cached memory of another class is given up first");
        pool.trim();
        assert_eq!(pool.stats().reserved, 0);
    }

    #[test]
    fn a_buffer_may_outlive_its_pool() {
        let buffer = Pool::new().alloc(5 << 20).unwrap();
        buffer.write(5 << 19, &[1, 2, 3]).unwrap();
        let mut back = [0; 3];
        buffer.read(5 << 19, &mut back).unwrap();
        assert_eq!(back, [1, 2, 3]);
        assert!(buffer.write((5 << 20) - 1, &[0, 0]).is_err());
    }
}
