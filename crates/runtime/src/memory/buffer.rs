//! One piece of memory.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use base::{DeviceId, Error, Result};
use scalar::DType;

use super::pool::{Pool, Shared};
use super::system::{Block, LINE};
use crate::cuda::Context;
use crate::device::Device;

/// Owner of bytes that a buffer may borrow: a mapped file, another library's array.
pub type Owner = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Raw memory that programs read and write, 64-byte aligned unless foreign; of the host, or of a GPU.
///
/// It behaves as device memory does: a shared reference suffices to write, and ordering is the launcher's affair. Whoever
/// writes a range while another thread reads or writes it gets unspecified bytes there. Dropping it returns the memory to
/// its pool.
pub struct Buffer {
    start: NonNull<u8>,
    bytes: usize,
    storage: Storage,
}

enum Storage {
    Empty,
    /// A block of a pool, for the recording with this number if that is not 0.
    Pooled {
        pool: Arc<Shared>,
        block: Option<Block>,
        recording: u32,
    },
    Foreign {
        _owner: Owner,
    },
    Lent,
    LentOnGpu {
        context: Arc<Context>,
    },
}

// SAFETY: the memory is owned or kept alive by the value; races on its contents are excluded by the contract above.
unsafe impl Send for Buffer {}
// SAFETY: as for Send.
unsafe impl Sync for Buffer {}

impl Buffer {
    pub(super) fn empty() -> Buffer {
        const _: () = assert!(align_of::<Line>() == LINE);
        Buffer { start: NonNull::<Line>::dangling().cast(), bytes: 0, storage: Storage::Empty }
    }

    pub(super) fn pooled(pool: Arc<Shared>, block: Block, recording: u32, offset: usize, bytes: usize) -> Buffer {
        debug_assert!(offset + bytes <= block.bytes());
        // SAFETY: the offset lies inside the block.
        let start = unsafe { block.start().add(offset) };
        Buffer { start, bytes, storage: Storage::Pooled { pool, block: Some(block), recording } }
    }

    /// A read-only buffer over an owner's bytes, without copying when they are aligned for `dtype` and the pool is the host's; else a
    /// pooled copy.
    ///
    /// # Errors
    /// Out of memory for the copy.
    pub fn foreign(pool: &Pool, owner: Owner, dtype: DType) -> Result<Buffer> {
        let bytes = (*owner).as_ref();
        if pool.is_on_gpu() || !(bytes.as_ptr() as usize).is_multiple_of(dtype.size()) {
            let copy = pool.alloc(bytes.len())?;
            copy.write(0, bytes)?;
            return Ok(copy);
        }
        let (start, len) = (NonNull::from(bytes).cast(), bytes.len());
        Ok(Buffer { start, bytes: len, storage: Storage::Foreign { _owner: owner } })
    }

    /// A buffer over memory of the caller's, which programs may write.
    ///
    /// # Safety
    /// The memory stays valid until the buffer is dropped, and whoever else reads or writes it keeps to the contract of
    /// [`Buffer`]. Bytes that no program touches need not exist.
    pub unsafe fn lent(start: NonNull<u8>, bytes: usize) -> Buffer {
        Buffer { start, bytes, storage: Storage::Lent }
    }

    /// A buffer over memory of the caller's on a GPU: `start` is its address.
    ///
    /// # Errors
    /// The device is no GPU.
    ///
    /// # Safety
    /// As [`Buffer::lent`]; operations of others on the memory are ordered with the device's stream.
    pub unsafe fn lent_on(device: &Device, start: NonNull<u8>, bytes: usize) -> Result<Buffer> {
        let gpu = device.as_cuda().ok_or_else(|| Error::internal(format!("memory on {}, which is no GPU", device.id())))?;
        Ok(Buffer { start, bytes, storage: Storage::LentOnGpu { context: gpu.context().clone() } })
    }

    /// The GPU whose memory it is; `None` for the host's, and for a buffer without bytes.
    pub(crate) fn gpu(&self) -> Option<&Arc<Context>> {
        match &self.storage {
            Storage::Pooled { pool, .. } => pool.gpu(),
            Storage::LentOnGpu { context } => Some(context),
            Storage::Empty | Storage::Foreign { .. } | Storage::Lent => None,
        }
    }

    /// Size in bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }
    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }
    /// First byte: on a GPU its address there, which the host cannot follow.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }
    /// Where its memory is; the host's if it has no bytes.
    pub fn device(&self) -> DeviceId {
        self.gpu().map_or(DeviceId::Cpu, |gpu| DeviceId::Cuda(gpu.ordinal))
    }
    /// Whether it is memory of a GPU.
    pub fn is_on_gpu(&self) -> bool {
        self.gpu().is_some()
    }
    /// False for foreign memory, which no program may write.
    pub fn is_writable(&self) -> bool {
        !matches!(self.storage, Storage::Foreign { .. })
    }

    /// Copies bytes in, on a GPU after everything that was launched before. No bytes may lie anywhere, here and below: an empty
    /// view may start past the end of its memory.
    ///
    /// # Errors
    /// The range is outside the buffer, or the buffer is foreign.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        if !self.is_writable() {
            return Err(Error::invalid("buffer is read-only: it borrows foreign memory"));
        }
        if bytes.is_empty() {
            return Ok(());
        }
        self.check(offset, bytes.len())?;
        if let Some(gpu) = self.gpu() {
            return gpu.upload(self.as_ptr().wrapping_add(offset), bytes);
        }
        // SAFETY: the range was checked and the source is a separate borrow; concurrent use is excluded by contract.
        unsafe { std::ptr::copy(bytes.as_ptr(), self.as_ptr().add(offset), bytes.len()) };
        Ok(())
    }

    /// Copies bytes out, on a GPU after everything that was launched before.
    ///
    /// # Errors
    /// The range is outside the buffer; on a GPU, a failed run-time check of a program that ran.
    pub fn read(&self, offset: usize, into: &mut [u8]) -> Result<()> {
        if into.is_empty() {
            return Ok(());
        }
        self.check(offset, into.len())?;
        if let Some(gpu) = self.gpu() {
            return gpu.download(self.as_ptr().wrapping_add(offset), into);
        }
        // SAFETY: as in `write`.
        unsafe { std::ptr::copy(self.as_ptr().add(offset), into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    /// Copies bytes of another buffer, or of this one; either may be a GPU's. Among buffers of a GPU the copy runs in stream
    /// order, after what was launched before.
    ///
    /// # Errors
    /// A range outside its buffer, or this buffer is foreign; on a GPU, ranges that overlap, and errors as in [`Buffer::read`].
    pub fn copy_from(&self, offset: usize, source: &Buffer, source_offset: usize, bytes: usize) -> Result<()> {
        if !self.is_writable() {
            return Err(Error::invalid("buffer is read-only: it borrows foreign memory"));
        }
        if bytes == 0 {
            return Ok(());
        }
        self.check(offset, bytes)?;
        source.check(source_offset, bytes)?;
        let (to, from) = (self.as_ptr().wrapping_add(offset), source.as_ptr().wrapping_add(source_offset).cast_const());
        match (self.gpu(), source.gpu()) {
            (Some(gpu), Some(other)) if Arc::ptr_eq(gpu, other) => {
                if (to as usize).abs_diff(from as usize) < bytes {
                    return Err(Error::unsupported("a copy between overlapping parts of a GPU's buffer"));
                }
                return gpu.copy(to, from, bytes);
            }
            (_, Some(_)) => {
                let mut host = vec![0; bytes];
                source.read(source_offset, &mut host)?;
                return self.write(offset, &host);
            }
            // SAFETY: the range was checked; the memory is the host's.
            (Some(gpu), None) => return gpu.upload(to, unsafe { std::slice::from_raw_parts(from, bytes) }),
            (None, None) => {}
        }
        // SAFETY: both ranges were checked, and may overlap; concurrent use is excluded by contract.
        unsafe { std::ptr::copy(from, to, bytes) };
        Ok(())
    }

    fn check(&self, offset: usize, len: usize) -> Result<()> {
        if offset.checked_add(len).is_none_or(|end| end > self.bytes) {
            return Err(Error::invalid(format!("bytes {offset}..+{len} are outside a buffer of {} bytes", self.bytes)));
        }
        Ok(())
    }
}

#[repr(align(64))]
struct Line;

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Storage::Pooled { pool, block, recording } = &mut self.storage
            && let Some(block) = block.take()
        {
            pool.take_back(block, *recording);
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.gpu().map_or_else(String::new, |gpu| format!(" on cuda:{}", gpu.ordinal));
        write!(f, "Buffer({} bytes{place}{})", self.bytes, if self.is_writable() { "" } else { ", foreign" })
    }
}
