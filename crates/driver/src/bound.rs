//! An executable for one size tuple with every launch resolved, for callers that run it often on memory of their own.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{Error, Result};
use runtime::{Arg, Array, Buffer};
use scalar::{DType, Var};
use smallvec::SmallVec;

use crate::apart::check_apart;
use crate::call::Memory;
use crate::executable::Executable;
use crate::instance::Instance;
use crate::places::{self, Step};

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
    /// For each input, whether an output lies in its memory.
    overwritten: Vec<bool>,
    instance: Arc<Instance>,
    /// The launches, if all of the plan are generated kernels and every output has a buffer of its own.
    steps: Option<Vec<Step>>,
    /// Bytes of the pieces of memory that intermediates and workspaces take.
    own: Vec<usize>,
}

impl Bound {
    /// Bytes of intermediates, workspaces included; `None` for a plan that needs more than launches.
    pub fn intermediate_bytes(&self) -> Option<usize> {
        self.steps.as_ref().map(|_| self.own.iter().sum())
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
        self.shared(&instance)?;
        let (steps, own) = places::resolve_into(self, &instance, overwrites).unzip();
        let mut overwritten = vec![false; shapes.len()];
        for &n in overwrites.iter().flatten() {
            *overwritten.get_mut(n).ok_or_else(|| Error::invalid(format!("there is no input {n} to overwrite")))? = true;
        }
        let overwrites = overwrites.iter().map(Option::is_some).collect();
        Ok(Bound { dims: dims.clone(), shapes, overwrites, overwritten, instance, steps, own: own.unwrap_or_default() })
    }

    /// Types of the outputs of a size tuple.
    ///
    /// # Errors
    /// An extent that its dimensions do not give.
    pub fn output_types(&self, bound: &Bound) -> Result<Vec<(DType, Vec<usize>)>> {
        self.output_shapes(&bound.instance)
    }

    /// Runs on memory of the caller's: inputs and outputs dense and row-major, as large as their types say, outputs apart
    /// from each other and, unless they overwrite them, from inputs; on a GPU, aligned to 16 bytes.
    ///
    /// # Errors
    /// As [`Executable::run`]; a buffer that is too small; on a GPU, one that is not aligned or not apart.
    pub fn run_bound(&self, bound: &Bound, inputs: Vec<Buffer>, outputs: Vec<Buffer>) -> Result<()> {
        self.run_watched(bound, inputs, outputs, &Unwatched)
    }

    /// As [`Executable::run_bound`], with somebody watching.
    ///
    /// # Errors
    /// As [`Executable::run_bound`], and those of `watch`.
    pub fn run_watched(&self, bound: &Bound, inputs: Vec<Buffer>, outputs: Vec<Buffer>, watch: &dyn Watch) -> Result<()> {
        if self.device.is_cuda() {
            check_apart(&inputs, &outputs, &bound.overwritten)?;
        }
        match &bound.steps {
            Some(steps) => {
                let memory = self.device.pool().alloc_all(bound.own.iter().copied())?;
                let [inputs, outputs] = [&inputs, &outputs].map(|b| b.iter().map(Arg::from).collect::<SmallVec<[Arg<'_>; 16]>>());
                let at = Memory { inputs: &inputs, results: &outputs, own: &memory, kept: self.shared(&bound.instance)? };
                self.run_steps(steps, &bound.instance, &at, watch)
            }
            None => {
                let (inputs, outputs) = self.arrays(bound, inputs, outputs)?;
                self.run_into(&bound.dims, &inputs, &outputs, &bound.overwrites, |instance, values| {
                    self.run_kernels(instance, values, watch)
                })
            }
        }
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
