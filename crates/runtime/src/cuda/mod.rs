//! NVIDIA GPUs. Nothing of CUDA is needed to build; its libraries are looked for when the first GPU is opened.

use std::path::PathBuf;
use std::time::Duration;

use base::{Config, Error, Result};
use program::CudaProgram;

use crate::device::{Arg, Device};
use crate::memory::Pool;

/// A GPU.
#[derive(Debug)]
pub(crate) enum Gpu {}
#[derive(Debug)]
pub(crate) enum Prepared {}

/// Launches that can be repeated as one; made by [`Device::capture`].
#[derive(Debug)]
pub struct Recorded {}

impl Recorded {
    /// Runs them, in stream order.
    ///
    /// # Errors
    /// Those of the device.
    pub fn replay(&self) -> Result<()> {
        Ok(())
    }
}

/// What one generated kernel takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Entry of the source.
    pub entry: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes that the compiler spilled to memory, stores and loads together.
    pub spills: u32,
    /// Bytes of local memory of a thread, spills included.
    pub local: u32,
    /// Bytes of shared memory of a block, static and dynamic.
    pub shared: u32,
}

/// One library, as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// What it is: `cuda`, `nvrtc`, `cublasLt`.
    pub name: &'static str,
    /// Its file, if it was found.
    pub path: Option<PathBuf>,
    /// Its version.
    pub version: Option<String>,
    /// Where it was looked for in vain.
    pub tried: Vec<String>,
}

/// Description of a GPU and of the libraries that serve it.
#[derive(Clone, Debug)]
pub struct Info {
    /// Product name.
    pub name: String,
    /// Compute capability.
    pub capability: (u32, u32),
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of the second-level cache.
    pub l2: usize,
    /// Bytes of memory.
    pub memory: usize,
    /// Bytes of memory that nobody uses.
    pub free: usize,
    /// Version of CUDA that the driver serves.
    pub driver: (u32, u32),
    /// Libraries.
    pub libraries: Vec<Library>,
    /// Time that making the context took.
    pub context_time: Duration,
    /// Time that finding and starting the libraries took.
    pub library_time: Duration,
}

/// Measured ceilings of a GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Copying memory to memory, bytes read and written, GB/s.
    pub copy: f64,
    /// Reading memory, GB/s.
    pub read: f64,
    /// Product of two bf16 matrices of 8192 x 8192 random numbers, TFLOP/s.
    pub gemm: f64,
}

/// Measures a GPU.
///
/// # Errors
/// A CPU; out of memory.
pub fn measure(device: &Device) -> Result<Rates> {
    match device.as_cuda() {
        Some(gpu) => match *gpu {},
        None => Err(Error::invalid(format!("{} is no GPU", device.id()))),
    }
}

/// The libraries of CUDA as they are found, or where they were looked for, without opening a GPU.
pub fn libraries(_config: &Config) -> Vec<Library> {
    Vec::new()
}

impl Gpu {
    pub(crate) fn new(ordinal: usize, _config: &Config) -> Result<Gpu> {
        Err(Error::unsupported(format!("no GPU {ordinal}")))
    }
    pub(crate) fn ordinal(&self) -> usize {
        match *self {}
    }
    pub(crate) fn pool(&self) -> &Pool {
        match *self {}
    }
    pub(crate) fn prepare(&self, _: CudaProgram) -> Result<Prepared> {
        match *self {}
    }
    pub(crate) fn compile_all(&self, _: &[&CudaProgram]) {
        match *self {}
    }
    pub(crate) fn launch(&self, _: &Prepared, _: &[Arg<'_>]) -> Result<()> {
        match *self {}
    }
    pub(crate) fn synchronize(&self) -> Result<()> {
        match *self {}
    }
    pub(crate) fn capture(&self, _: impl FnOnce() -> Result<()>) -> Result<Recorded> {
        match *self {}
    }
    pub(crate) fn time(&self, _: impl FnOnce() -> Result<()>) -> Result<Duration> {
        match *self {}
    }
    pub(crate) fn flush_l2(&self) -> Result<()> {
        match *self {}
    }
    pub(crate) fn info(&self) -> Info {
        match *self {}
    }
}

impl Prepared {
    pub(crate) fn program(&self) -> &CudaProgram {
        match *self {}
    }
    pub(crate) fn resources(&self) -> &[Resources] {
        match *self {}
    }
}
