//! Measured times of a plan's kernels.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use base::Result;
use graph::HostTensor;

use crate::executable::Executable;
use crate::host::to_array;

impl Executable {
    /// Median time of each kernel over some runs, in plan order; kernels that run once, at load, count zero.
    ///
    /// # Errors
    /// As [`Executable::run`].
    pub fn profile(&self, inputs: &[HostTensor], runs: usize) -> Result<Vec<Duration>> {
        let arrays = inputs.iter().map(|t| to_array(self.device.pool(), t)).collect::<Result<Vec<_>>>()?;
        let kernels = &self.compiled.plan.kernels;
        let mut times = vec![Vec::with_capacity(runs); kernels.len()];
        for _ in 0..runs.max(1) {
            let (instance, mut values) = self.start(&BTreeMap::new(), &arrays)?;
            for (n, (kernel, ready)) in kernels.iter().zip(&instance.kernels).enumerate() {
                let start = Instant::now();
                if !kernel.once {
                    self.run_kernel(kernel, ready, &instance, &mut values)?;
                    times[n].push(start.elapsed());
                }
                self.release(n, &mut values);
            }
        }
        let median = |mut t: Vec<Duration>| {
            t.sort_unstable();
            t.get(t.len() / 2).copied().unwrap_or_default()
        };
        Ok(times.into_iter().map(median).collect())
    }
}
