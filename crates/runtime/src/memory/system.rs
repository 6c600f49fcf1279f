//! Raw memory from the system: heap blocks, and huge-page mappings for large ones.

use std::alloc::Layout;
use std::ptr::NonNull;

/// Bytes of a cache line, the alignment of every buffer.
pub(crate) const LINE: usize = 64;
/// Bytes of a huge page; blocks of at least this size are mapped.
pub(crate) const HUGE: usize = 2 << 20;
/// Whether a sanitizer watches: every buffer is then a heap block of its own size, so that each access outside it is seen.
pub(crate) const WATCHED: bool = cfg!(fuseline_sanitize);

fn is_mapped(bytes: usize) -> bool {
    bytes >= HUGE && !WATCHED
}

/// One block of raw memory.
#[derive(Debug)]
pub(crate) struct Block {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a block is plain memory owned by whoever holds the value.
unsafe impl Send for Block {}

impl Block {
    /// First byte; 64-byte aligned, 2 MiB-aligned when mapped.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }
    /// Size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// A block of exactly `bytes` (positive), or `None` when the system has no memory for it.
    pub(crate) fn new(bytes: usize) -> Option<Block> {
        let start = if is_mapped(bytes) { map(bytes)? } else { heap(bytes)? };
        Some(Block { start, bytes })
    }

    /// Memory that came from elsewhere, and goes back there.
    pub(super) fn over(start: NonNull<u8>, bytes: usize) -> Block {
        Block { start, bytes }
    }

    /// Returns the memory to the system.
    pub(crate) fn release(self) {
        if is_mapped(self.bytes) {
            unmap(self.start, self.bytes);
        } else if let Ok(layout) = Layout::from_size_align(self.bytes, LINE) {
            // SAFETY: `start` came from `heap` with this very layout and is given back once, as `self` is consumed.
            unsafe { std::alloc::dealloc(self.start.as_ptr(), layout) }
        }
    }
}

fn heap(bytes: usize) -> Option<NonNull<u8>> {
    let layout = Layout::from_size_align(bytes, LINE).ok()?;
    // SAFETY: callers pass positive sizes.
    NonNull::new(unsafe { std::alloc::alloc(layout) })
}

/// Maps `bytes` at a 2 MiB boundary and advises huge pages.
#[cfg(unix)]
fn map(bytes: usize) -> Option<NonNull<u8>> {
    let whole = bytes.checked_add(HUGE)?;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: an anonymous private mapping at an address of the kernel's choice touches no existing memory.
    let raw = unsafe { libc::mmap(std::ptr::null_mut(), whole, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if raw == libc::MAP_FAILED {
        return None;
    }
    let base = raw as usize;
    let start = base.next_multiple_of(HUGE);
    let end = (start + bytes).next_multiple_of(4096);
    for (from, to) in [(base, start), (end, base + whole)] {
        if to > from {
            // SAFETY: [from, to) lies inside the mapping made above, at page boundaries, and nobody uses it.
            unsafe { libc::munmap(from as *mut libc::c_void, to - from) };
        }
    }
    #[cfg(target_os = "linux")]
    // SAFETY: advice about memory that this function owns.
    unsafe {
        libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE)
    };
    NonNull::new(start as *mut u8)
}

#[cfg(unix)]
fn unmap(start: NonNull<u8>, bytes: usize) {
    // SAFETY: `map` returned this range; the rest of its mapping is already gone.
    unsafe { libc::munmap(start.as_ptr().cast(), bytes.next_multiple_of(4096)) };
}

#[cfg(not(unix))]
fn map(bytes: usize) -> Option<NonNull<u8>> {
    heap(bytes)
}

#[cfg(not(unix))]
fn unmap(start: NonNull<u8>, bytes: usize) {
    if let Ok(layout) = Layout::from_size_align(bytes, LINE) {
        // SAFETY: `map` took it from `heap` with this layout.
        unsafe { std::alloc::dealloc(start.as_ptr(), layout) }
    }
}

/// Bytes that this process may use: physical memory, or the control group's limit when that is less.
pub(crate) fn limit() -> usize {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let physical = read("/proc/meminfo")
        .lines()
        .find_map(|l| l.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.trim().parse::<usize>().ok())
        .map_or(isize::MAX as usize, |kib| kib.saturating_mul(1024));
    let group = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    group.iter().filter_map(|p| read(p).trim().parse::<usize>().ok()).fold(physical, usize::min)
}
