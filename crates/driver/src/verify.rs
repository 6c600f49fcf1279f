//! Fused kernels against the oracle, on live inputs.

use std::collections::BTreeMap;

use base::{Numerics, Result};
use graph::HostTensor;
use runtime::Buffer;
use scalar::DType;

use crate::bound::Bound;
use crate::executable::Executable;
use crate::host::{to_array, to_host};
use crate::instance::Instance;
use crate::values::Values;

/// How far results may differ: `|got − want| ≤ absolute + relative · |want|`, both from the output's dtype.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Relative part.
    pub relative: f64,
    /// Absolute part.
    pub absolute: f64,
}

impl Tolerance {
    /// The default for a dtype: a few roundings of it over a long reduction; exact for integers.
    pub fn of(dtype: DType) -> Tolerance {
        let relative = match dtype {
            DType::F8E5M2 => 0.25,
            DType::F8E4M3 => 0.125,
            DType::F16 => 4e-3,
            DType::BF16 => 3e-2,
            DType::F32 => 2e-4,
            DType::F64 => 1e-10,
            _ => 0.0,
        };
        Tolerance { relative, absolute: relative / 10.0 }
    }

    /// The tolerance with its absolute part for values of the size of these: where large terms cancel, their roundings stay.
    fn scaled(self, values: &HostTensor) -> Tolerance {
        let squares = (0..values.len()).map(|i| values.get(i).as_f64()).filter(|v| v.is_finite()).map(|v| v * v);
        let size = (squares.sum::<f64>() / values.len().max(1) as f64).sqrt();
        Tolerance { absolute: self.absolute * size.max(1.0), ..self }
    }
}

/// One kernel output that differs from the oracle.
#[derive(Clone, Debug, PartialEq)]
pub struct Deviation {
    /// Kernel name.
    pub kernel: String,
    /// User ops of the kernel, with their sources.
    pub ops: Vec<String>,
    /// The user op that gives the output, with its source.
    pub op: String,
    /// Elements beyond the tolerance.
    pub count: usize,
    /// Row-major position of the worst element.
    pub at: usize,
    /// Computed value there.
    pub got: f64,
    /// The oracle's value there.
    pub want: f64,
}

impl Executable {
    /// Runs every kernel, and the interpreter on the same inputs, and compares.
    ///
    /// `tolerance` of `None` takes the default of each output's dtype.
    ///
    /// # Errors
    /// As [`Executable::run`]; deviations are results, not errors.
    pub fn verify(&self, inputs: &[HostTensor], tolerance: Option<Tolerance>) -> Result<(Vec<HostTensor>, Vec<Deviation>)> {
        let arrays = inputs.iter().map(|t| to_array(self.device.pool(), t)).collect::<Result<Vec<_>>>()?;
        let (instance, mut values) = self.start(&BTreeMap::new(), &arrays)?;
        let deviations = self.run_checked(&instance, &mut values, tolerance)?;
        let outputs = self.outputs(&instance, &values)?.iter().map(to_host).collect::<Result<Vec<_>>>()?;
        Ok((outputs, deviations))
    }

    /// As [`Executable::run_bound`], with every kernel checked against the interpreter on the same inputs.
    ///
    /// # Errors
    /// As [`Executable::run_bound`]; deviations are results, not errors.
    pub fn verify_bound(
        &self,
        bound: &Bound,
        inputs: Vec<Buffer>,
        outputs: Vec<Buffer>,
        tolerance: Option<Tolerance>,
    ) -> Result<Vec<Deviation>> {
        let (inputs, outputs) = self.arrays(bound, inputs, outputs)?;
        self.run_into(&bound.dims, &inputs, &outputs, &bound.overwrites, |instance, values| {
            self.run_checked(instance, values, tolerance)
        })
    }

    fn run_checked(&self, instance: &Instance, values: &mut Values, tolerance: Option<Tolerance>) -> Result<Vec<Deviation>> {
        let options = graph::interp::Options { wide: self.config.numerics == Numerics::Wide };
        let mut deviations = Vec::new();
        for (n, (kernel, ready)) in self.compiled.plan.kernels.iter().zip(&instance.kernels).enumerate() {
            if !kernel.once {
                let want = self.oracle(kernel, instance, values, options)?;
                self.run_kernel(kernel, ready, instance, values)?;
                for (&v, want) in kernel.outputs.iter().zip(&want) {
                    let got = to_host(&self.array_of(v, instance, values)?)?;
                    let within = tolerance.unwrap_or_else(|| Tolerance::of(got.dtype()).scaled(want));
                    if let Some((count, at)) = compare(&got, want, within) {
                        let (ops, op) = (self.sources_of(&kernel.members), self.sources_of(&[v]).join(""));
                        let (got, want) = (got.get(at).as_f64(), want.get(at).as_f64());
                        deviations.push(Deviation { kernel: kernel.name.clone(), ops, op, count, at, got, want });
                    }
                }
            }
            self.release(n, values);
        }
        Ok(deviations)
    }

    /// The user ops of some nodes, with their sources, in order.
    pub(crate) fn sources_of(&self, members: &[graph::NodeId]) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for &m in members {
            let origin = self.compiled.plan.graph.origin(m);
            let text = match (origin.op.is_empty(), origin.source.is_empty()) {
                (true, _) => continue,
                (false, true) => origin.op.clone(),
                (false, false) => format!("{} ({})", origin.op, origin.source),
            };
            if !out.contains(&text) {
                out.push(text);
            }
        }
        out
    }
}

/// Number of elements beyond the tolerance and the position of the worst, if any.
pub(crate) fn compare(got: &HostTensor, want: &HostTensor, within: Tolerance) -> Option<(usize, usize)> {
    let mut count = 0;
    let mut worst = (0, -1.0);
    for i in 0..got.len() {
        let (g, w) = (got.get(i).as_f64(), want.get(i).as_f64());
        if g == w || (g.is_nan() && w.is_nan()) {
            continue;
        }
        let error = (g - w).abs();
        let limit = within.absolute + within.relative * w.abs();
        if error > limit || !error.is_finite() {
            count += 1;
            let excess = if error.is_finite() { error / limit.max(f64::MIN_POSITIVE) } else { f64::MAX };
            if excess > worst.1 {
                worst = (i, excess);
            }
        }
    }
    (count > 0).then_some((count, worst.0))
}

#[cfg(test)]
mod tests;
