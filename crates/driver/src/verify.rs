//! Fused kernels against the oracle, on live inputs.

use std::collections::BTreeMap;

use base::Result;
use graph::HostTensor;
use scalar::DType;

use crate::executable::Executable;
use crate::host::{to_array, to_host};

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
            DType::F16 => 4e-3,
            DType::BF16 => 3e-2,
            DType::F32 => 2e-4,
            DType::F64 => 1e-10,
            _ => 0.0,
        };
        Tolerance { relative, absolute: relative / 10.0 }
    }
}

/// One kernel output that differs from the oracle.
#[derive(Clone, Debug, PartialEq)]
pub struct Deviation {
    /// Kernel name.
    pub kernel: String,
    /// User ops of the kernel, with their sources.
    pub ops: Vec<String>,
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
        let mut deviations = Vec::new();
        for (kernel, ready) in self.compiled.plan.kernels.iter().zip(&instance.kernels).filter(|(k, _)| !k.once) {
            let want = self.oracle(kernel, &instance, &values, graph::interp::Options { wide: false })?;
            self.run_kernel(kernel, ready, &instance, &mut values)?;
            for (&v, want) in kernel.outputs.iter().zip(&want) {
                let got = to_host(&self.array_of(v, &instance, &values)?)?;
                let within = tolerance.unwrap_or_else(|| Tolerance::of(got.dtype()));
                if let Some((count, at)) = compare(&got, want, within) {
                    let ops = self.sources_of(&kernel.members);
                    let (got, want) = (got.get(at).as_f64(), want.get(at).as_f64());
                    deviations.push(Deviation { kernel: kernel.name.clone(), ops, count, at, got, want });
                }
            }
        }
        let outputs = self.outputs(&instance, &values)?.iter().map(to_host).collect::<Result<Vec<_>>>()?;
        Ok((outputs, deviations))
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
