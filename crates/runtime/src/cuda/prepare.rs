//! Programs that are ready to launch.

use std::ffi::c_void;
use std::fmt;
use std::ptr::null_mut;
use std::sync::Arc;

use base::{Error, Result};
use program::{Access, CudaProgram, CudaStep, Launch, Param};
use smallvec::SmallVec;

use super::context::Context;
use super::convolve::{Convolver, PreparedConvolution};
use super::driver::{LaunchAttribute, LaunchConfig, RawFunction, function_attribute};
use super::launches::Ticket;
use super::module::Module;
use super::multiply::{Multiplier, PreparedProduct};
use crate::device::Arg;

/// Bytes of arguments that every kernel may have, and those that it may have since CUDA 12.1.
const SMALL_BLOCK: usize = 4096;
const LARGE_BLOCK: usize = 32764;
/// Dynamic shared memory that needs no permission.
const PLAIN_SHARED: u32 = 48 << 10;
/// Blocks of the largest cluster that every GPU has.
const PORTABLE_CLUSTER: u32 = 8;

/// Most blocks of a launch, and threads of a block.
const MOST_BLOCKS: u32 = i32::MAX as u32;
const MOST_THREADS: u32 = 1024;
/// What addresses of arguments are multiples of: generated code reads as many bytes at a time.
pub(crate) const ALIGNMENT: u64 = 16;

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

/// A program that is ready to launch.
pub(crate) struct Prepared {
    inner: Arc<Inner>,
}

/// What recordings keep.
pub(crate) struct Inner {
    pub(crate) program: CudaProgram,
    ticket: Ticket,
    steps: Vec<Step>,
    resources: Vec<Resources>,
    /// Keeps the kernels.
    _module: Option<Arc<Module>>,
}

enum Step {
    Launch(Box<PreparedLaunch>),
    Product(Box<PreparedProduct>),
    Convolution(Box<PreparedConvolution>),
}

/// The libraries of a GPU.
pub(crate) struct Computers {
    pub(crate) products: Arc<Multiplier>,
    pub(crate) convolutions: Arc<Convolver>,
}

/// A kernel with everything of its launch but the addresses.
struct PreparedLaunch {
    function: RawFunction,
    grid: u32,
    threads: u32,
    shared: u32,
    attributes: SmallVec<[LaunchAttribute; 2]>,
    /// Parameters whose addresses begin the block.
    args: Vec<u16>,
    /// Words of the block after the addresses.
    rest: Vec<u64>,
}

impl Prepared {
    pub(crate) fn new(
        context: &Arc<Context>,
        computers: &Computers,
        program: CudaProgram,
        module: Option<Arc<Module>>,
    ) -> Result<Prepared> {
        let ticket = Ticket::new(context, &program.name, &program.checks)?;
        let mut resources = Vec::new();
        let mut step = |step: &CudaStep| match step {
            CudaStep::Launch(launch) => {
                let module = module.as_deref().ok_or_else(|| Error::internal("a launch without a source"))?;
                check_launch(launch, &program)?;
                let (prepared, takes) = PreparedLaunch::new(context, module, launch, ticket.word)?;
                resources.push(takes);
                Ok(Step::Launch(Box::new(prepared)))
            }
            CudaStep::Product(product) => {
                Ok(Step::Product(Box::new(computers.products.prepare(context, product, &program.params)?)))
            }
            CudaStep::Convolution(convolution) => {
                Ok(Step::Convolution(Box::new(computers.convolutions.prepare(context, convolution, &program.params)?)))
            }
        };
        let steps = program.steps.iter().map(&mut step).collect::<Result<Vec<_>>>();
        let steps = steps.map_err(|e| e.context(format!("kernel {}", program.name)))?;
        Ok(Prepared { inner: Arc::new(Inner { program, ticket, steps, resources, _module: module }) })
    }

    pub(crate) fn program(&self) -> &CudaProgram {
        &self.inner.program
    }
    pub(crate) fn resources(&self) -> &[Resources] {
        &self.inner.resources
    }

    /// Puts the steps on the stream.
    pub(crate) fn launch(&self, context: &Arc<Context>, args: &[Arg<'_>]) -> Result<()> {
        let inner = &*self.inner;
        self.run(context, args).map_err(|e| e.context(format!("kernel {}", inner.program.name)))?;
        if context.sync && context.recording() == 0 { context.synchronize() } else { Ok(()) }
    }

    /// Puts the first kernel on the stream so many times, by nothing but the driver's call.
    pub(crate) fn repeat(&self, context: &Arc<Context>, args: &[Arg<'_>], times: usize) -> Result<()> {
        let addresses = self.addresses(context, args)?;
        context.enter()?;
        match self.inner.steps.first() {
            Some(Step::Launch(launch)) => launch.run(context, &addresses, times),
            _ => Err(Error::internal("no kernel to repeat")),
        }
    }

    fn addresses(&self, context: &Arc<Context>, args: &[Arg<'_>]) -> Result<SmallVec<[u64; 16]>> {
        let inner = &*self.inner;
        let params = &inner.program.params;
        if args.len() != params.len() {
            return Err(Error::internal(format!("{} arguments for {} parameters", args.len(), params.len())));
        }
        if !inner.ticket.is_of(context) {
            return Err(Error::internal(format!("prepared for another GPU than cuda:{}", context.ordinal)));
        }
        let mut addresses = SmallVec::with_capacity(params.len());
        for (param, arg) in params.iter().zip(args) {
            addresses.push(address(context, param, arg)?);
        }
        Ok(addresses)
    }

    fn run(&self, context: &Arc<Context>, args: &[Arg<'_>]) -> Result<()> {
        let inner = &*self.inner;
        let addresses = self.addresses(context, args)?;
        context.enter()?;
        inner.ticket.launched();
        if context.recording() != 0 {
            super::record::hold(self.inner.clone());
        }
        for step in &inner.steps {
            match step {
                Step::Launch(launch) => launch.run(context, &addresses, 1)?,
                Step::Product(product) => product.run(context, &addresses)?,
                Step::Convolution(convolution) => convolution.run(context, &addresses)?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prepared({}, {} steps)", self.inner.program.name, self.inner.steps.len())
    }
}

/// Checks what the driver does not.
fn check_launch(launch: &Launch, program: &CudaProgram) -> Result<()> {
    let Launch { entry, grid, threads, cluster, args, .. } = launch;
    let wrong = |what: String| Err(Error::internal(format!("launch of {entry}: {what}")));
    if let Some(arg) = args.iter().find(|&&a| usize::from(a) >= program.params.len()) {
        return wrong(format!("parameter {arg} of {}", program.params.len()));
    }
    if *grid == 0 || *grid > MOST_BLOCKS || *threads == 0 || *threads > MOST_THREADS {
        return wrong(format!("{grid} blocks of {threads} threads"));
    }
    if *cluster == 0 || grid % cluster != 0 {
        return wrong(format!("{grid} blocks in clusters of {cluster}"));
    }
    Ok(())
}

/// Clusters that are launched for so many turns where so many run at once: no more than that, each with about as many turns.
fn balanced(turns: u32, at_once: u32) -> u32 {
    let each = turns.div_ceil(at_once.clamp(1, turns.max(1)));
    turns.div_ceil(each.max(1))
}

impl PreparedLaunch {
    fn new(context: &Context, module: &Module, launch: &Launch, word: u64) -> Result<(PreparedLaunch, Resources)> {
        let Launch { entry, grid, threads, shared, cluster, in_turns, args, numbers } = launch;
        let function = module.function(entry)?;
        let rest: Vec<u64> = numbers.iter().map(|&n| n as u64).chain([word]).collect();
        let kernel = Kernel { context, entry, function };
        kernel.check_block(8 * (args.len() + rest.len()))?;
        let fixed = kernel.get(function_attribute::SHARED)?;
        if fixed + shared > PLAIN_SHARED {
            if fixed + shared > context.about.shared {
                let most = context.about.shared;
                return Err(Error::unsupported(format!("{entry} takes {} bytes of shared memory of {most}", fixed + shared)));
            }
            // The kernel may belong to other programs too: each may have as much as there is.
            kernel.set(function_attribute::MAX_DYNAMIC_SHARED, context.about.shared - fixed)?;
        }
        if *cluster > PORTABLE_CLUSTER {
            kernel.set(function_attribute::NON_PORTABLE_CLUSTER, 1)?;
        }
        let resources = Resources {
            entry: entry.clone(),
            registers: kernel.get(function_attribute::REGISTERS)?,
            spills: module.spills(entry),
            local: kernel.get(function_attribute::LOCAL)?,
            shared: fixed + shared,
        };
        let grid = if *in_turns { kernel.at_once(launch)? } else { *grid };
        let cluster = (*cluster > 1).then(|| LaunchAttribute::cluster(*cluster));
        let programmatic = context.kernels_wait().then(LaunchAttribute::programmatic);
        let attributes = cluster.into_iter().chain(programmatic).collect();
        let (threads, shared, args) = (*threads, *shared, args.clone());
        Ok((PreparedLaunch { function, grid, threads, shared, attributes, args, rest }, resources))
    }

    fn run(&self, context: &Context, addresses: &[u64], times: usize) -> Result<()> {
        let mut block: SmallVec<[u64; 128]> = SmallVec::with_capacity(self.args.len() + self.rest.len());
        block.extend(self.args.iter().map(|&a| addresses[usize::from(a)]));
        block.extend_from_slice(&self.rest);
        let config = LaunchConfig {
            grid: [self.grid, 1, 1],
            block: [self.threads, 1, 1],
            shared: self.shared,
            stream: context.stream(),
            attributes: self.attributes.as_ptr(),
            attribute_count: self.attributes.len() as u32,
        };
        let mut argument: *mut c_void = block.as_mut_ptr().cast();
        let launch = context.libraries.driver.launch;
        for _ in 0..times {
            // SAFETY: the context is current and the kernel belongs to it. The kernel takes one argument, as large as the block, which
            // the driver copies before it returns. The addresses cover the parameters' elements, as `address` checked.
            let code = unsafe { launch(&raw const config, self.function, &raw mut argument, null_mut()) };
            context.check(code, "cuLaunchKernelEx")?;
        }
        Ok(())
    }
}

/// A kernel whose attributes are read and set.
struct Kernel<'a> {
    context: &'a Context,
    entry: &'a str,
    function: RawFunction,
}

impl Kernel<'_> {
    /// Blocks of a launch in turns.
    fn at_once(&self, launch: &Launch) -> Result<u32> {
        let attribute = LaunchAttribute::cluster(launch.cluster);
        let config = LaunchConfig {
            grid: [launch.grid, 1, 1],
            block: [launch.threads, 1, 1],
            shared: launch.shared,
            stream: self.context.stream(),
            attributes: &raw const attribute,
            attribute_count: 1,
        };
        let (mut clusters, count) = (0, self.context.libraries.driver.active_clusters);
        // SAFETY: the context is current, the kernel belongs to it, and the configuration outlives the call.
        let code = unsafe { count(&raw mut clusters, self.function, &raw const config) };
        self.context.check(code, "cuOccupancyMaxActiveClusters")?;
        Ok(balanced(launch.grid / launch.cluster, clusters.unsigned_abs()) * launch.cluster)
    }

    fn get(&self, attribute: i32) -> Result<u32> {
        let mut value = 0;
        let get = self.context.enter()?.function_get;
        // SAFETY: the function exists, and one number is stored.
        self.context.check(unsafe { get(&raw mut value, attribute, self.function) }, "cuFuncGetAttribute")?;
        Ok(value.max(0) as u32)
    }

    fn set(&self, attribute: i32, value: u32) -> Result<()> {
        let set = self.context.enter()?.function_set;
        // SAFETY: the function exists.
        let code = unsafe { set(self.function, attribute, value as i32) };
        self.context.check(code, "cuFuncSetAttribute").map_err(|e| e.context(format!("{}: {value}", self.entry)))
    }

    /// Checks that the kernel takes a block of this size, as far as the driver can say.
    fn check_block(&self, bytes: usize) -> Result<()> {
        let driver = self.context.enter()?;
        let (served, compiler) = (driver.version(), self.context.libraries.nvrtc.number());
        let most = if served.min(compiler) >= (12, 1) { LARGE_BLOCK } else { SMALL_BLOCK };
        if bytes > most {
            let text = format!(
                "{} takes {bytes} bytes of arguments of at most {most} (CUDA {served:?}, compiler {compiler:?})",
                self.entry
            );
            return Err(Error::unsupported(text));
        }
        let Some(info) = driver.function_param else { return Ok(()) };
        let (mut offset, mut size) = (0, 0);
        // SAFETY: the function exists, and two numbers are stored.
        let code = unsafe { info(self.function, 0, &raw mut offset, &raw mut size) };
        if code == 0 && size != bytes {
            return Err(Error::internal(format!("{} declares {size} bytes of arguments, its launch has {bytes}", self.entry)));
        }
        Ok(())
    }
}

/// The address of an argument that fits its parameter.
fn address(context: &Arc<Context>, param: &Param, arg: &Arg<'_>) -> Result<u64> {
    let Param { name, dtype, access, elements } = param;
    let have = arg.buffer.len().checked_sub(arg.offset_bytes);
    let at = arg.buffer.as_ptr() as u64 + arg.offset_bytes as u64;
    let Some(have) = have else {
        return Err(Error::internal(format!("argument {name} starts at byte {} of {}", arg.offset_bytes, arg.buffer.len())));
    };
    if *elements == 0 {
        return Ok(at);
    }
    if have as u64 / (dtype.size() as u64) < *elements {
        return Err(Error::internal(format!("argument {name} has {have} bytes, {elements} {dtype} are needed")));
    }
    if !arg.buffer.gpu().is_some_and(|gpu| Arc::ptr_eq(gpu, context)) {
        return Err(Error::internal(format!("argument {name} is not in the memory of cuda:{}", context.ordinal)));
    }
    if *access != Access::Read && !arg.buffer.is_writable() {
        return Err(Error::internal(format!("argument {name} is written, but its buffer borrows foreign memory")));
    }
    if !at.is_multiple_of(ALIGNMENT) {
        return Err(Error::invalid(format!(
            "argument {name} at address {at:#x} is not aligned to {ALIGNMENT} bytes; pass a copy"
        )));
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_dealt_evenly() {
        for (turns, at_once, want) in [(2048, 30, 30), (64, 33, 32), (5, 66, 5), (67, 66, 34), (1, 0, 1)] {
            assert_eq!(balanced(turns, at_once), want, "{turns} turns, {at_once} at once");
        }
    }

    #[test]
    fn launches_beyond_the_limits_are_refused() {
        let program = CudaProgram { name: "p".into(), params: vec![], source: String::new(), steps: vec![], checks: vec![] };
        let launch = |grid, threads, cluster, args: &[u16]| {
            let (entry, args) = ("k".into(), args.to_vec());
            let launch = Launch { entry, grid, threads, shared: 0, cluster, in_turns: false, args, numbers: vec![] };
            check_launch(&launch, &program).map_err(|e| e.message().to_owned())
        };
        assert!(launch(1, 1024, 1, &[]).is_ok() && launch(1 << 30, 32, 2, &[]).is_ok());
        for (grid, threads) in [(0, 32), (1 << 31, 32), (1, 0), (1, 1025)] {
            let error = launch(grid, threads, 1, &[]).unwrap_err();
            assert!(error.contains(&format!("{grid} blocks of {threads} threads")), "{error}");
        }
        assert!(launch(3, 32, 2, &[]).unwrap_err().contains("clusters"));
        assert!(launch(1, 32, 1, &[0]).unwrap_err().contains("parameter 0 of 0"));
    }
}
