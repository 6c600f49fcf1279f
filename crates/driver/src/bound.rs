//! An executable for one size tuple with every launch resolved, for callers that run it often on memory of their own.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{Error, Result};
use runtime::{Arg, Array, Buffer};
use scalar::{DType, Var};
use smallvec::SmallVec;

use crate::executable::Executable;
use crate::instance::{Instance, ReadyStep};
use crate::places::{self, Source, Step};

/// Told of every kernel of a run.
pub trait Watch: Sync {
    /// Calls `run`, which runs the kernel with this index in the plan.
    ///
    /// # Errors
    /// Those of `run`, and its own.
    fn kernel(&self, index: usize, run: &mut dyn FnMut() -> Result<()>) -> Result<()>;
}

/// Nobody watches.
pub(crate) struct Unwatched;

impl Watch for Unwatched {
    fn kernel(&self, _: usize, run: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        run()
    }
}

/// A size tuple that is ready to run; made by [`Executable::bound`].
pub struct Bound {
    pub(crate) dims: BTreeMap<Var, i64>,
    shapes: Vec<Vec<usize>>,
    /// For each output, whether it lies in the memory of an input.
    pub(crate) overwrites: Vec<bool>,
    instance: Arc<Instance>,
    /// The launches, if all of the plan are generated kernels and every output has a buffer of its own.
    steps: Option<Vec<Step>>,
    own: usize,
}

impl Bound {
    /// Most bytes of intermediates alive at once, workspaces included; `None` for a plan that needs more than launches.
    pub fn intermediate_bytes(&self) -> Option<usize> {
        let mut alive = vec![0; self.own];
        let mut most = 0;
        for step in self.steps.as_ref()? {
            step.allocate.iter().for_each(|&(n, bytes)| alive[n] = bytes);
            let workspaces: usize = match &self.instance.kernels[step.kernel].step {
                ReadyStep::Program { workspaces, .. } => workspaces.iter().sum(),
                _ => 0,
            };
            most = most.max(alive.iter().sum::<usize>() + workspaces);
            step.release.iter().for_each(|&n| alive[n] = 0);
        }
        Some(most)
    }
}

impl Executable {
    /// Prepares a size tuple: extents of the inputs, and dimensions that are known beside them. `overwrites` gives for each output
    /// the input, if any, whose memory it takes.
    ///
    /// # Errors
    /// Extents or dimensions that do not fit; kernels that cannot be lowered.
    pub fn bound(&self, dims: &BTreeMap<Var, i64>, shapes: Vec<Vec<usize>>, overwrites: &[Option<usize>]) -> Result<Bound> {
        let instance = self.instance(dims, &shapes.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        let (steps, own) = places::resolve(self, &instance, overwrites).map_or((None, 0), |(steps, own)| (Some(steps), own));
        let overwrites = overwrites.iter().map(Option::is_some).collect();
        Ok(Bound { dims: dims.clone(), shapes, overwrites, instance, steps, own })
    }

    /// Types of the outputs of a size tuple.
    ///
    /// # Errors
    /// An extent that its dimensions do not give.
    pub fn output_types(&self, bound: &Bound) -> Result<Vec<(DType, Vec<usize>)>> {
        self.output_shapes(&bound.instance)
    }

    /// Runs on memory of the caller's: inputs and outputs dense and row-major, as large as their types say, outputs apart
    /// from each other and, unless they overwrite them, from inputs.
    ///
    /// # Errors
    /// As [`Executable::run`]; a buffer that is too small.
    pub fn run_bound(&self, bound: &Bound, inputs: Vec<Buffer>, outputs: Vec<Buffer>) -> Result<()> {
        self.run_watched(bound, inputs, outputs, &Unwatched)
    }

    /// As [`Executable::run_bound`], with somebody watching.
    ///
    /// # Errors
    /// As [`Executable::run_bound`], and those of `watch`.
    pub fn run_watched(&self, bound: &Bound, inputs: Vec<Buffer>, outputs: Vec<Buffer>, watch: &dyn Watch) -> Result<()> {
        match &bound.steps {
            Some(steps) => self.run_steps(steps, bound, &inputs, &outputs, watch),
            None => {
                let (inputs, outputs) = self.arrays(bound, inputs, outputs)?;
                self.run_into(&bound.dims, &inputs, &outputs, &bound.overwrites, |instance, values| {
                    self.run_kernels(instance, values, watch)
                })
            }
        }
    }

    fn run_steps(&self, steps: &[Step], bound: &Bound, inputs: &[Buffer], outputs: &[Buffer], watch: &dyn Watch) -> Result<()> {
        let pool = self.device.pool();
        let mut own: SmallVec<[Option<Buffer>; 16]> = (0..bound.own).map(|_| None).collect();
        for step in steps {
            for &(n, bytes) in &step.allocate {
                own[n] = Some(pool.alloc(bytes)?);
            }
            if let ReadyStep::Program { prepared, workspaces, .. } = &bound.instance.kernels[step.kernel].step {
                let workspaces = workspaces.iter().map(|&bytes| pool.alloc(bytes));
                let workspaces: SmallVec<[Buffer; 2]> = workspaces.collect::<Result<_>>()?;
                let buffer = |source: &Source| match *source {
                    Source::Input(n) => Ok(Arg::from(&inputs[n])),
                    Source::Output(n) => Ok(Arg::from(&outputs[n])),
                    Source::Own(n) => own[n].as_ref().map(Arg::from).ok_or_else(|| Error::internal("a released intermediate")),
                };
                let mut args: SmallVec<[Arg<'_>; 16]> = step.args.iter().map(buffer).collect::<Result<_>>()?;
                args.extend(workspaces.iter().map(Arg::from));
                let name = || self.plan().kernels[step.kernel].name.clone();
                let mut launch = || self.device.launch(prepared, &args).map_err(|e| e.context(name()));
                watch.kernel(step.kernel, &mut launch)?;
            }
            step.release.iter().for_each(|&n| own[n] = None);
        }
        Ok(())
    }

    /// Inputs and outputs as arrays.
    pub(crate) fn arrays(&self, bound: &Bound, inputs: Vec<Buffer>, outputs: Vec<Buffer>) -> Result<(Vec<Array>, Vec<Array>)> {
        let decls = self.graph().inputs.iter().filter(|d| !d.frozen);
        let arrays = |(decl, (buffer, shape)): (&graph::InputDecl, (Buffer, &Vec<usize>))| {
            Array::over(Arc::new(buffer), decl.ty.dtype, shape)
        };
        let inputs = decls.zip(inputs.into_iter().zip(&bound.shapes)).map(arrays).collect::<Result<Vec<_>>>()?;
        let shapes = self.output_shapes(&bound.instance)?;
        let arrays = |(buffer, (dtype, shape)): (Buffer, (DType, Vec<usize>))| Array::over(Arc::new(buffer), dtype, &shape);
        let outputs = outputs.into_iter().zip(shapes).map(arrays).collect::<Result<Vec<_>>>()?;
        Ok((inputs, outputs))
    }
}
