//! Convolutions by cuDNN: its state on one GPU, and what is ready to run.

use std::ptr::null_mut;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use base::{Error, Result};
use program::{Convolution, Param};
use smallvec::SmallVec;

use super::backend::{Descriptor, Values};
use super::blas::Opaque;
use super::choices::Choices;
use super::context::Context;
use super::convolution::Problem;
use super::cudnn::{Dnn, attribute, sort};
use super::engines::{Engines, Plan, Ready};
use super::graph::{Graph, IDS};
use super::random::Operands;
use crate::memory::{Buffer, Pool};

/// The library on one GPU, started by the first convolution.
pub(crate) struct Convolver {
    pool: Pool,
    choices: Choices,
    started: OnceLock<Started>,
    /// Held while it is started, which may fail and be tried again.
    starting: Mutex<()>,
    /// The largest workspace so far, which the plans that came after it share: everything runs on one stream.
    workspace: Mutex<Option<Arc<Buffer>>>,
}

/// The library's state.
pub(super) struct Started {
    context: Arc<Context>,
    handle: Opaque,
    /// Held while the handle's stream is set and used.
    using: Mutex<()>,
}

// SAFETY: the library's handle may be used from any thread, by one at a time, which `using` sees to.
unsafe impl Send for Started {}
// SAFETY: as for Send.
unsafe impl Sync for Started {}

impl Started {
    pub(super) fn dnn(&self) -> Result<&Dnn> {
        self.context.libraries.dnn()
    }

    pub(super) fn handle(&self) -> Opaque {
        self.handle
    }

    /// Addresses of w, x, y and a bias, if there is one, and of a workspace, for a run.
    pub(super) fn pack(&self, addresses: &[u64], workspace: u64) -> Result<Descriptor> {
        let attributes = [
            (attribute::PACK_IDS, Values::Numbers(&IDS[..addresses.len()])),
            (attribute::PACK_POINTERS, Values::Addresses(addresses)),
            (attribute::PACK_WORKSPACE, Values::Addresses(&[workspace])),
        ];
        Descriptor::new(self.dnn()?, sort::VARIANT_PACK, &attributes)
    }

    /// Puts a plan on the stream.
    pub(super) fn run(&self, context: &Context, plan: &Plan, pack: &Descriptor) -> Result<()> {
        let dnn = self.dnn()?;
        let _one = self.using.lock().unwrap_or_else(PoisonError::into_inner);
        context.enter()?;
        // SAFETY: handle, plan and pack exist; the pack's addresses are those of arrays as the plan's graph describes them, and of
        // a workspace as large as the plan takes.
        unsafe {
            dnn.check((dnn.set_stream)(self.handle, context.stream()), "cudnnSetStream")?;
            dnn.check((dnn.execute)(self.handle, plan.descriptor.raw(), pack.raw()), "cudnnBackendExecute")
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let (Ok(_), Ok(dnn)) = (self.context.enter(), self.dnn()) {
            // SAFETY: the handle is destroyed once; a failure leaves nothing to do.
            unsafe { (dnn.destroy)(self.handle) };
        }
    }
}

impl Convolver {
    pub(crate) fn new(pool: &Pool, cache: Option<&str>) -> Convolver {
        Convolver {
            pool: pool.clone(),
            choices: Choices::new(cache, "convolutions"),
            started: OnceLock::new(),
            starting: Mutex::default(),
            workspace: Mutex::default(),
        }
    }

    /// Problems that were timed so far.
    pub(crate) fn timed(&self) -> usize {
        self.choices.timed()
    }

    fn started(&self, context: &Arc<Context>) -> Result<&Started> {
        let _one = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(started) = self.started.get() {
            return Ok(started);
        }
        context.enter()?;
        let (dnn, mut handle) = (context.libraries.dnn()?, null_mut());
        // SAFETY: the context is current; the handle is destroyed once, when the value is dropped.
        dnn.check(unsafe { (dnn.create)(&raw mut handle) }, "cudnnCreate")?;
        Ok(self.started.get_or_init(|| Started { context: context.clone(), handle, using: Mutex::default() }))
    }

    fn workspace(&self, bytes: usize) -> Result<Arc<Buffer>> {
        let mut largest = self.workspace.lock().unwrap_or_else(PoisonError::into_inner);
        match &*largest {
            Some(buffer) if buffer.len() >= bytes => Ok(buffer.clone()),
            _ => Ok(largest.insert(Arc::new(self.pool.alloc(bytes.max(1))?)).clone()),
        }
    }

    /// What runs a problem; `None` where the convolution alone and generated code after it are faster.
    fn ready(&self, context: &Arc<Context>, started: &Started, problem: &Problem) -> Result<Option<Ready>> {
        let alone = match problem.alone() {
            Some(alone) => self.ready(context, started, &alone)?,
            None => None,
        };
        let graph = Graph::new(started.dnn()?, started.handle, problem)?;
        let sizes = problem.operands().map(|a| (problem.dtype, a.span() as usize));
        let (pool, operands) = (&self.pool, Operands::new(&self.pool, sizes));
        let contest = Engines { context, pool, started, graph: &graph, problem, operands, alone: alone.as_ref() };
        let plan = self.choices.choose(context, &contest)?;
        Ok(plan.map(|plan| Ready { plan, _graph: graph }))
    }

    /// Makes a convolution ready.
    ///
    /// # Errors
    /// `Unsupported` for what the library does not take, without the library, and where what follows the convolution is better left
    /// to generated code.
    pub(crate) fn prepare(
        self: &Arc<Self>,
        context: &Arc<Context>,
        convolution: &Convolution,
        params: &[Param],
    ) -> Result<PreparedConvolution> {
        let problem = Problem::new(convolution, params)?;
        let ready = self.ready(context, self.started(context)?, &problem)?;
        let ready = ready.ok_or_else(|| Error::unsupported(format!("{convolution}: faster in two steps")))?;
        let size = problem.dtype.size() as u64;
        let Convolution { w, x, y, epilogue, .. } = convolution;
        let places = [w, x, y].into_iter().map(|t| (t.param, t.offset)).chain(epilogue.bias.iter().map(|b| (b.param, b.offset)));
        Ok(PreparedConvolution {
            operands: places.zip(problem.operands()).map(|((p, at), a)| (p, at as u64 * size, a.alignment as u64)).collect(),
            workspace: self.workspace(ready.plan.workspace)?,
            packed: Mutex::default(),
            ready,
            convolver: self.clone(),
        })
    }
}

/// Addresses of a convolution's operands.
type Addresses = SmallVec<[u64; 4]>;

/// A convolution that is ready to run.
pub(crate) struct PreparedConvolution {
    /// Parameter, byte and alignment of w, x, y, and the bias if there is one.
    operands: SmallVec<[(u16, u64, u64); 4]>,
    workspace: Arc<Buffer>,
    /// The addresses of the last run.
    packed: Mutex<Option<(Addresses, Descriptor)>>,
    ready: Ready,
    convolver: Arc<Convolver>,
}

impl PreparedConvolution {
    /// Puts it on the stream.
    pub(crate) fn run(&self, context: &Arc<Context>, addresses: &[u64]) -> Result<()> {
        let started = self.convolver.started(context)?;
        let addresses: Addresses = self.operands.iter().map(|&(param, byte, _)| addresses[usize::from(param)] + byte).collect();
        for (n, (address, (_, _, by))) in addresses.iter().zip(&self.operands).enumerate() {
            if !address.is_multiple_of(*by) {
                return Err(Error::internal(format!("a convolution's operand {n} is not aligned to {by} bytes")));
            }
        }
        let mut packed = self.packed.lock().unwrap_or_else(PoisonError::into_inner);
        let known = packed.take().filter(|(last, _)| *last == addresses);
        let (_, pack) = match known {
            Some(known) => packed.insert(known),
            None => {
                let pack = started.pack(&addresses, self.workspace.as_ptr() as u64)?;
                packed.insert((addresses, pack))
            }
        };
        started.run(context, &self.ready.plan, pack)
    }
}
