//! A GPU as a device.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base::{Config, Error, Result};
use program::CudaProgram;

use super::context::Context;
use super::convolve::Convolver;
use super::load::LibraryInfo;
use super::module::{Module, Modules};
use super::multiply::Multiplier;
use super::prepare::{Computers, Prepared};
use super::record::{self, Recorded};
use super::timer;
use crate::device::Arg;
use crate::memory::{Buffer, Pool};

/// A GPU with its pool of memory, its kernels and its libraries.
pub(crate) struct Gpu {
    context: Arc<Context>,
    pool: Pool,
    modules: Modules,
    computers: Computers,
    /// What is written to displace the second-level cache.
    flush: Mutex<Option<Buffer>>,
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
    /// Most bytes of shared memory of a block.
    pub shared: u32,
    /// Bytes of memory.
    pub memory: usize,
    /// Bytes of memory that nobody uses.
    pub free: usize,
    /// Version of CUDA that the driver serves.
    pub driver: (u32, u32),
    /// Libraries.
    pub libraries: Vec<LibraryInfo>,
    /// Time that finding and loading the libraries took.
    pub load_time: Duration,
    /// Time that making the context took.
    pub context_time: Duration,
    /// Time that starting cuBLASLt took, if a product was prepared.
    pub product_time: Option<Duration>,
    /// Sources that this process compiled for it, and problems of products and convolutions whose algorithms it timed: nothing where
    /// other processes left them in the cache.
    pub compiled: usize,
    /// See `compiled`.
    pub timed: usize,
}

impl Gpu {
    pub(crate) fn new(ordinal: usize, config: &Config) -> Result<Gpu> {
        let context = Arc::new(Context::new(ordinal, config)?);
        let pool = Pool::on_gpu(context.clone());
        let cache = config.cache.as_deref();
        let computers =
            Computers { products: Arc::new(Multiplier::new(&pool, cache)), convolutions: Arc::new(Convolver::new(&pool, cache)) };
        Ok(Gpu { context, pool, modules: Modules::new(cache), computers, flush: Mutex::default() })
    }

    pub(crate) fn ordinal(&self) -> usize {
        self.context.ordinal
    }
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }
    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    pub(crate) fn info(&self) -> Info {
        let (about, libraries) = (self.context.about.clone(), &self.context.libraries);
        Info {
            name: about.name,
            capability: about.capability,
            multiprocessors: about.multiprocessors,
            l2: about.l2,
            shared: about.shared,
            memory: about.memory,
            free: self.context.free_memory().map_or(0, |(free, _)| free),
            driver: libraries.driver.version(),
            libraries: libraries.describe(),
            load_time: libraries.time,
            context_time: self.context.time,
            product_time: self.computers.products.time(),
            compiled: self.modules.compiled(),
            timed: self.computers.products.timed() + self.computers.convolutions.timed(),
        }
    }

    pub(crate) fn prepare(&self, program: CudaProgram) -> Result<Prepared> {
        let module = (!program.source.is_empty()).then(|| self.modules.get(&self.context, &program.source));
        self.ready(program, module)
    }

    /// The sources are compiled in parallel.
    pub(crate) fn prepare_all(&self, programs: Vec<CudaProgram>) -> Vec<Result<Prepared>> {
        let sources: Vec<&str> = programs.iter().map(|p| p.source.as_str()).filter(|s| !s.is_empty()).collect();
        let mut modules = self.modules.get_all(&self.context, &sources).into_iter();
        let mut ready = |program: CudaProgram| {
            let module = if program.source.is_empty() { None } else { modules.next() };
            self.ready(program, module)
        };
        programs.into_iter().map(&mut ready).collect()
    }

    fn ready(&self, program: CudaProgram, module: Option<Result<Arc<Module>>>) -> Result<Prepared> {
        let module = module.transpose().map_err(|e| e.context(format!("kernel {}", program.name)))?;
        Prepared::new(&self.context, &self.computers, program, module)
    }

    pub(crate) fn launch(&self, prepared: &Prepared, args: &[Arg<'_>]) -> Result<()> {
        prepared.launch(&self.context, args)
    }
    pub(crate) fn synchronize(&self) -> Result<()> {
        self.context.synchronize()
    }
    pub(crate) fn capture(&self, f: impl FnOnce() -> Result<()>) -> Result<Recorded> {
        record::capture(&self.context, &self.pool, f)
    }
    pub(crate) fn time(&self, f: impl FnOnce() -> Result<()>) -> Result<Duration> {
        Ok(Duration::from_secs_f64(timer::elapsed(&self.context, f)?))
    }

    pub(crate) fn flush_l2(&self) -> Result<()> {
        let mut flush = self.flush.lock().unwrap_or_else(PoisonError::into_inner);
        let buffer = match &mut *flush {
            Some(buffer) => buffer,
            none => none.insert(self.pool.alloc((2 * self.context.about.l2).max(1 << 20))?),
        };
        self.context.fill(buffer.as_ptr(), 0, buffer.len())
    }
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.context.fmt(f)
    }
}

/// The libraries of CUDA as they are loaded, or as they would be found now, without opening a GPU.
pub fn libraries(config: &Config) -> Vec<LibraryInfo> {
    super::load::describe(&config.cuda)
}

/// The error for what needs a GPU.
pub(crate) fn no_gpu(what: &str, device: base::DeviceId) -> Error {
    Error::invalid(format!("{what} needs a GPU, {device} is none"))
}
