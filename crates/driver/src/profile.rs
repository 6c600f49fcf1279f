//! Measured times of a plan's kernels.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base::Result;
use graph::HostTensor;
use runtime::{Array, Device};

use crate::bound::Watch;
use crate::executable::Executable;
use crate::host::to_array;

/// Times of each kernel, by the device's clock.
struct Stopwatch<'a> {
    device: &'a Device,
    times: Mutex<Vec<Vec<Duration>>>,
}

impl Watch for Stopwatch<'_> {
    fn kernel(&self, index: usize, run: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let took = self.device.time(run)?;
        self.times.lock().unwrap_or_else(PoisonError::into_inner)[index].push(took);
        Ok(())
    }
}

impl Executable {
    /// Median time of each kernel over some runs, in plan order; kernels that run once, at load, count zero.
    ///
    /// # Errors
    /// As [`Executable::run`].
    pub fn profile(&self, inputs: &[HostTensor], runs: usize) -> Result<Vec<Duration>> {
        let arrays = inputs.iter().map(|t| to_array(self.device.pool(), t)).collect::<Result<Vec<_>>>()?;
        self.profile_arrays(&arrays, runs)
    }

    /// [`Executable::profile`] on arrays.
    ///
    /// # Errors
    /// As [`Executable::run`].
    pub fn profile_arrays(&self, arrays: &[Array], runs: usize) -> Result<Vec<Duration>> {
        let times = Mutex::new(vec![Vec::with_capacity(runs); self.compiled.plan.kernels.len()]);
        let watch = Stopwatch { device: &self.device, times };
        for _ in 0..runs.max(1) {
            let (instance, mut values) = self.start(&BTreeMap::new(), arrays)?;
            self.run_kernels(&instance, &mut values, &watch)?;
        }
        let median = |mut t: Vec<Duration>| {
            t.sort_unstable();
            t.get(t.len() / 2).copied().unwrap_or_default()
        };
        Ok(watch.times.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().map(median).collect())
    }
}
