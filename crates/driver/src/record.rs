//! Runs that are repeated as one: a plan's launches recorded by the device.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use base::{Error, Result};
use runtime::{Array, Recorded};

use crate::bound::Unwatched;
use crate::executable::Executable;
use crate::host::copy;
use crate::instance::{Instance, ReadyStep};
use crate::values::Values;

/// A run for some sizes, recorded. Its intermediates and outputs keep their memory between runs.
pub struct Recording {
    recorded: Recorded,
    /// Where the recorded launches read.
    inputs: Vec<Array>,
    outputs: Vec<Array>,
    /// Keeps what the launches use.
    values: Values,
    /// One run at a time.
    turn: Mutex<()>,
}

impl Executable {
    /// Records a run on the device of the executable, for inputs of these shapes. It runs once without being recorded first.
    ///
    /// # Errors
    /// As [`Executable::run_arrays`]; `Unsupported`, with the reason, for a plan that more than launches belong to, and for a device
    /// that does not record.
    pub fn record(&self, inputs: &[Array]) -> Result<Recording> {
        self.run_arrays(inputs)?;
        let own = inputs.iter().map(|a| self.own(a)).collect::<Result<Vec<_>>>()?;
        let (instance, mut values) = self.start(&BTreeMap::new(), &own)?;
        self.recordable(&instance)?;
        self.device().synchronize()?;
        let recorded = self.device().capture(|| self.run_kernels(&instance, &mut values, &Unwatched))?;
        let outputs = self.outputs(&instance, &values)?;
        Ok(Recording { recorded, inputs: own, outputs, values, turn: Mutex::new(()) })
    }

    /// A copy with memory of its own.
    fn own(&self, array: &Array) -> Result<Array> {
        let own = Array::contiguous(self.device().pool(), array.dtype, &array.shape)?;
        copy(array, &own)?;
        Ok(own)
    }

    /// Whether all of a plan is launches.
    fn recordable(&self, instance: &Instance) -> Result<()> {
        for (kernel, ready) in self.plan().kernels.iter().zip(&instance.kernels).filter(|(k, _)| !k.once) {
            if matches!(ready.step, ReadyStep::Interpret | ReadyStep::Opaque(_)) {
                return Err(Error::unsupported(format!("{} runs on the host: the plan cannot be recorded", kernel.name)));
            }
        }
        Ok(())
    }
}

impl Recording {
    /// Copies the inputs to where the recorded launches read, runs them, and gives the outputs.
    ///
    /// # Errors
    /// Inputs of other types than recorded; `Unsupported` while outputs of an earlier run live, which this one would overwrite;
    /// those of the device.
    pub fn run(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let held = |a: &Array| self.outputs.iter().filter(|o| Arc::ptr_eq(&o.buffer, &a.buffer)).count();
        if self.outputs.iter().any(|o| Arc::strong_count(&o.buffer) > held(o) + self.kept(o)) {
            return Err(Error::unsupported("outputs of an earlier run live; drop them, or run without recording"));
        }
        self.feed(inputs)?;
        self.recorded.replay()?;
        Ok(self.outputs.clone())
    }

    /// Runs on the inputs that were given last, for measurements.
    ///
    /// # Errors
    /// Those of the device.
    pub fn run_again(&self) -> Result<()> {
        self.recorded.replay()
    }

    fn feed(&self, inputs: &[Array]) -> Result<()> {
        if inputs.len() != self.inputs.len() {
            return Err(Error::invalid(format!("{} inputs given, {} recorded", inputs.len(), self.inputs.len())));
        }
        for (from, to) in inputs.iter().zip(&self.inputs) {
            if from.dtype != to.dtype || from.shape != to.shape {
                let (a, b) = (format!("{}{:?}", from.dtype, from.shape), format!("{}{:?}", to.dtype, to.shape));
                return Err(Error::invalid(format!("an input is {a}, recorded was {b}")));
            }
            if !Arc::ptr_eq(&from.buffer, &to.buffer) {
                copy(from, to)?;
            }
        }
        Ok(())
    }

    /// Holders of an output's buffer within the recording, the outputs aside.
    fn kept(&self, output: &Array) -> usize {
        let inputs = self.inputs.iter().filter(|i| Arc::ptr_eq(&i.buffer, &output.buffer)).count();
        inputs + self.values.holders(&output.buffer)
    }
}
