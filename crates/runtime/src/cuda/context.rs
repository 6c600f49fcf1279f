//! A GPU's context: its stream, its memory, and what went wrong in it.

use std::ffi::c_char;
use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use base::{Config, Error, Result};

use super::driver::{self, Code, Driver, RawContext, RawDevice, RawStream, STREAM_NON_BLOCKING, device_attribute};
use super::launches::Launches;
use super::load::{Libraries, libraries};
use super::record;

/// A GPU's primary context with streams of its own.
///
/// Everything runs on one stream, in the order of the calls, whatever the threads. So a block of memory may serve another buffer as
/// soon as its buffer is dropped: whatever still uses it runs before. What a thread records goes to a second stream, on which
/// nothing ever runs.
pub(crate) struct Context {
    pub(crate) libraries: Arc<Libraries>,
    pub(crate) ordinal: usize,
    pub(crate) about: About,
    pub(crate) launches: Launches,
    /// Wait after each launch.
    pub(crate) sync: bool,
    /// Every buffer is an allocation of its own.
    pub(crate) watch: bool,
    /// Time that making it took.
    pub(crate) time: Duration,
    /// Held while a thread records.
    pub(crate) recorder: Mutex<()>,
    device: RawDevice,
    raw: RawContext,
    stream: RawStream,
    record_stream: RawStream,
    /// The fault after which nothing works any more.
    lost: OnceLock<Error>,
}

/// What a GPU has.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    pub(crate) name: String,
    pub(crate) capability: (u32, u32),
    pub(crate) multiprocessors: u32,
    pub(crate) l2: usize,
    /// Bytes of memory.
    pub(crate) memory: usize,
    /// Most bytes of shared memory of a block.
    pub(crate) shared: u32,
}

impl Context {
    /// Opens a GPU.
    ///
    /// # Errors
    /// `Unsupported` without one, or without its libraries.
    pub(crate) fn new(ordinal: usize, config: &Config) -> Result<Context> {
        let libraries = libraries(&config.cuda)?;
        let start = Instant::now();
        let driver = &libraries.driver;
        let device = device(driver, ordinal)?;
        let about = About::of(driver, device)?;
        about.check(ordinal)?;
        let mut raw = RawContext::NULL;
        // SAFETY: the device exists, and the context is given back once, when the value is dropped.
        driver.check(unsafe { (driver.context_retain)(&raw mut raw, device) }, "cuDevicePrimaryCtxRetain")?;
        let mut context = Context {
            ordinal,
            about,
            launches: Launches::default(),
            sync: config.cuda.sync,
            watch: config.cuda.watch,
            time: Duration::ZERO,
            recorder: Mutex::new(()),
            device,
            raw,
            stream: RawStream::NULL,
            record_stream: RawStream::NULL,
            lost: OnceLock::new(),
            libraries: libraries.clone(),
        };
        context.enter()?;
        for stream in [&mut context.stream, &mut context.record_stream] {
            // SAFETY: the context is current; streams are destroyed once, when the value is dropped.
            driver.check(unsafe { (driver.stream_create)(stream, STREAM_NON_BLOCKING) }, "cuStreamCreate")?;
        }
        context.time = start.elapsed();
        Ok(context)
    }

    /// Makes it the calling thread's context.
    ///
    /// # Errors
    /// The fault after which it is of no use any more.
    pub(crate) fn enter(&self) -> Result<&Driver> {
        if let Some(error) = self.lost.get() {
            return Err(error.clone());
        }
        let driver = &self.libraries.driver;
        // SAFETY: the context is retained as long as `self` lives.
        self.check(unsafe { (driver.context_set)(self.raw) }, "cuCtxSetCurrent")?;
        Ok(driver)
    }

    /// Where the calling thread's operations go.
    pub(crate) fn stream(&self) -> RawStream {
        if self.recording() == 0 { self.stream } else { self.record_stream }
    }
    /// The stream on which things run.
    pub(crate) fn main_stream(&self) -> RawStream {
        self.stream
    }
    /// The number of the calling thread's recording on this context; 0 without one.
    pub(crate) fn recording(&self) -> u32 {
        record::current(self.identity())
    }
    /// A number that tells it from other contexts.
    pub(crate) fn identity(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }
    /// Refuses what cannot be recorded.
    fn not_recorded(&self, what: &str) -> Result<()> {
        if self.recording() == 0 {
            return Ok(());
        }
        Err(Error::unsupported(format!("{what} cannot be recorded; run without a recording")))
    }

    /// Success, or an error; a fault is remembered, and told with the kernels that may have made it.
    #[inline]
    pub(crate) fn check(&self, code: Code, call: &str) -> Result<()> {
        if code == 0 { Ok(()) } else { Err(self.failed(code, call)) }
    }

    #[cold]
    fn failed(&self, code: Code, call: &str) -> Error {
        let error = self.libraries.driver.error(code, call);
        if !driver::is_fatal(code) {
            return error;
        }
        let lost = self.lost.get_or_init(|| {
            let text = format!(
                "the GPU cuda:{} cannot be used any more in this process: {error}; launched since it was last waited for: {}; \
                 FUSELINE_SYNC=1 names the one",
                self.ordinal,
                self.launches.since_waited()
            );
            Error::internal(text)
        });
        lost.clone()
    }

    /// Waits for everything on the stream.
    pub(crate) fn wait(&self) -> Result<()> {
        self.not_recorded("waiting for the GPU")?;
        let driver = self.enter()?;
        let before = self.launches.count();
        // SAFETY: the stream lives as long as `self`.
        self.check(unsafe { (driver.stream_synchronize)(self.stream) }, "cuStreamSynchronize")?;
        self.launches.waited(before);
        Ok(())
    }

    /// Waits for everything on the stream, also while this thread records; failures show elsewhere.
    pub(crate) fn settle(&self) {
        if let Ok(driver) = self.enter() {
            // SAFETY: the stream lives as long as `self`, and nothing records on it.
            let _ = self.check(unsafe { (driver.stream_synchronize)(self.stream) }, "cuStreamSynchronize");
        }
    }

    /// Waits, then reports the first failed check of the programs that ran.
    pub(crate) fn synchronize(&self) -> Result<()> {
        self.wait()?;
        self.launches.fault().map_or(Ok(()), Err)
    }

    /// Bytes of memory that nobody uses, and all.
    pub(crate) fn free_memory(&self) -> Result<(usize, usize)> {
        let driver = self.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: the function stores two numbers.
        self.check(unsafe { (driver.memory_info)(&raw mut free, &raw mut total) }, "cuMemGetInfo")?;
        Ok((free, total))
    }

    /// New memory, or `None` when there is none left.
    pub(crate) fn allocate(&self, bytes: usize) -> Result<Option<NonNull<u8>>> {
        let driver = self.enter()?;
        let mut address = 0;
        // SAFETY: the context is current, and the function stores one address.
        let code = unsafe { (driver.memory_alloc)(&raw mut address, bytes) };
        if driver::is_out_of_memory(code) {
            return Ok(None);
        }
        self.check(code, "cuMemAlloc")?;
        Ok(NonNull::new(address as *mut u8))
    }

    /// Gives memory back that `allocate` gave, and that nothing on the stream uses any more.
    pub(crate) fn free(&self, start: NonNull<u8>) {
        if let Ok(driver) = self.enter() {
            // SAFETY: callers give each address back once. After a failure the memory stays taken, which harms nobody.
            unsafe { (driver.memory_free)(start.as_ptr() as u64) };
        }
    }

    /// Copies host bytes to an address of this GPU, and waits.
    pub(crate) fn upload(&self, to: *mut u8, bytes: &[u8]) -> Result<()> {
        self.not_recorded("writing a buffer from the host")?;
        let driver = self.enter()?;
        // SAFETY: the caller checked the range of the address; the source outlives the copy, which is waited for.
        let code = unsafe { (driver.to_device)(to as u64, bytes.as_ptr().cast(), bytes.len(), self.stream) };
        self.check(code, "cuMemcpyHtoDAsync")?;
        self.wait()
    }

    /// Copies bytes of this GPU to the host after everything launched before, and reports failed checks.
    pub(crate) fn download(&self, from: *const u8, into: &mut [u8]) -> Result<()> {
        self.not_recorded("reading a buffer")?;
        let driver = self.enter()?;
        // SAFETY: as in `upload`.
        let code = unsafe { (driver.to_host)(into.as_mut_ptr().cast(), from as u64, into.len(), self.stream) };
        self.check(code, "cuMemcpyDtoHAsync")?;
        self.synchronize()
    }

    /// Whether generated kernels wait for earlier kernels of the stream themselves, also in recordings.
    pub(crate) fn kernels_wait(&self) -> bool {
        self.about.capability >= (9, 0) && self.libraries.driver.version() >= (12, 3)
    }

    /// Copies within the GPU, in stream order; the ranges do not overlap.
    pub(crate) fn copy(&self, to: *mut u8, from: *const u8, bytes: usize) -> Result<()> {
        let driver = self.enter()?;
        // SAFETY: the caller checked both ranges.
        self.check(unsafe { (driver.copy)(to as u64, from as u64, bytes, self.stream()) }, "cuMemcpyDtoDAsync")
    }

    /// Sets bytes, in stream order.
    pub(crate) fn fill(&self, to: *mut u8, value: u8, bytes: usize) -> Result<()> {
        let driver = self.enter()?;
        // SAFETY: the caller checked the range.
        self.check(unsafe { (driver.fill)(to as u64, value, bytes, self.stream()) }, "cuMemsetD8Async")
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let driver = &self.libraries.driver;
        // SAFETY: nothing uses the streams after the value; failures leave nothing to do, as when the process ends.
        unsafe {
            (driver.context_set)(self.raw);
            (driver.stream_synchronize)(self.stream);
            self.launches.free(driver);
            for stream in [self.stream, self.record_stream] {
                if stream != RawStream::NULL {
                    (driver.stream_destroy)(stream);
                }
            }
            (driver.context_release)(self.device);
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cuda:{} ({})", self.ordinal, self.about.name)
    }
}

/// The device with a number.
fn device(driver: &Driver, ordinal: usize) -> Result<RawDevice> {
    // SAFETY: the functions store one number each.
    unsafe {
        driver
            .check((driver.init)(0), "cuInit")
            .map_err(|e| Error::new(e.kind, format!("no GPU can be used: {}", e.message())))?;
        let mut count = 0;
        driver.check((driver.device_count)(&raw mut count), "cuDeviceGetCount")?;
        if ordinal >= count as usize {
            return Err(Error::unsupported(format!("no GPU cuda:{ordinal}: there are {count}, numbered from 0")));
        }
        let mut device = 0;
        driver.check((driver.device_get)(&raw mut device, ordinal as i32), "cuDeviceGet")?;
        Ok(device)
    }
}

/// The oldest compute capability that generated code is compiled for in tests.
const OLDEST: (u32, u32) = (8, 0);

impl About {
    /// Whether generated code runs on it.
    fn check(&self, ordinal: usize) -> Result<()> {
        if self.capability >= OLDEST {
            return Ok(());
        }
        let (About { name, capability: (major, minor), .. }, (least, part)) = (self, OLDEST);
        let text =
            format!("the GPU cuda:{ordinal} ({name}) has compute capability {major}.{minor}; {least}.{part} or newer is needed");
        Err(Error::unsupported(text))
    }

    fn of(driver: &Driver, device: RawDevice) -> Result<About> {
        let attribute = |which: i32| -> Result<u32> {
            let mut value = 0;
            // SAFETY: the function stores one number.
            driver.check(unsafe { (driver.device_attribute)(&raw mut value, which, device) }, "cuDeviceGetAttribute")?;
            Ok(value.max(0) as u32)
        };
        let (mut name, mut memory) = ([0u8; 256], 0);
        // SAFETY: the functions store a string of at most this length with its zero, and one number.
        unsafe {
            driver.check((driver.device_name)(name.as_mut_ptr().cast::<c_char>(), 255, device), "cuDeviceGetName")?;
            driver.check((driver.device_memory)(&raw mut memory, device), "cuDeviceTotalMem")?;
        }
        let length = name.iter().position(|&b| b == 0).unwrap_or(0);
        Ok(About {
            name: String::from_utf8_lossy(&name[..length]).into_owned(),
            capability: (attribute(device_attribute::MAJOR)?, attribute(device_attribute::MINOR)?),
            multiprocessors: attribute(device_attribute::MULTIPROCESSORS)?,
            l2: attribute(device_attribute::L2)? as usize,
            memory,
            shared: attribute(device_attribute::SHARED_OPT_IN)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_gpus_are_refused() {
        let about = |capability| About { name: "Old".into(), capability, ..About::default() };
        let error = about((7, 5)).check(1).unwrap_err();
        assert_eq!(error.kind, base::ErrorKind::Unsupported);
        assert_eq!(error.message(), "the GPU cuda:1 (Old) has compute capability 7.5; 8.0 or newer is needed");
        assert!(about((8, 0)).check(0).is_ok() && about((12, 0)).check(0).is_ok());
    }
}
