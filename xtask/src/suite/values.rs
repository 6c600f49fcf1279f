//! Arguments for programs.

use std::sync::Arc;

use base::Result;
use driver::{Array, Executable};
use graph::{Frozen, Graph, HostTensor, InputDecl, Module};
use scalar::{DType, Var};

/// A seeded generator of values in [0, 1).
struct Uniform(u64);

impl Uniform {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }

    fn value(&mut self, decl: &InputDecl, below: i64) -> f64 {
        let u = self.next();
        match decl.ty.dtype {
            DType::Bool => (2.0 * u).floor(),
            DType::I8 => (16.0 * u).floor() - 8.0,
            d if !d.is_float() => (if decl.frozen { 2.0 * u } else { below as f64 * u }).floor(),
            _ if positive(decl) => u + 0.1,
            _ => 2.0 * u - 1.0,
        }
    }
}

/// Weights, which variances may be among, and second moments are positive.
fn positive(decl: &InputDecl) -> bool {
    let moment = decl.name.strip_prefix('v').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    decl.frozen || moment
}

/// Least upper bounds of integers that are tried, in this order: indices have to be small enough.
pub(crate) const BELOW: [i64; 4] = [1000, 48, 4, 1];

/// A tensor for every input slot: floats in (−1, 1), or positive ones; integers in `0..below`. Frozen ones depend on nothing.
///
/// # Errors
/// An extent without a value.
pub(crate) fn arguments(graph: &Graph, extent: &dyn Fn(Var) -> Option<i64>, below: i64, seed: u64) -> Result<Vec<HostTensor>> {
    let tensor = |(slot, decl): (usize, &InputDecl)| {
        let seed = if decl.frozen { 0 } else { seed + 1 };
        let mut uniform = Uniform((seed << 16 | slot as u64) + 1);
        let shape = decl.ty.shape.iter().map(|s| Ok(s.eval(extent)? as usize)).collect::<Result<Vec<_>>>()?;
        uniform.next();
        let values: Vec<f64> = (0..shape.iter().product()).map(|_| uniform.value(decl, below)).collect();
        Ok(HostTensor::from_f64s(decl.ty.dtype, &shape, &values))
    };
    graph.inputs.iter().enumerate().map(tensor).collect()
}

/// The arguments of the inputs that are not frozen.
pub(crate) fn given(graph: &Graph, all: &[HostTensor]) -> Vec<HostTensor> {
    graph.inputs.iter().zip(all).filter(|(d, _)| !d.frozen).map(|(_, t)| t.clone()).collect()
}

/// Results for arguments in memory of the device's own, which donated inputs need.
///
/// # Errors
/// As [`Executable::run`].
pub(crate) fn run(executable: &Executable, given: &[HostTensor]) -> Result<Vec<HostTensor>> {
    if !executable.graph().inputs.iter().any(|d| d.donated) {
        return executable.run(given);
    }
    let arrays = arrays(executable, given)?;
    let outputs = executable.run_arrays(&arrays)?;
    executable.device().synchronize()?;
    outputs.iter().map(driver::to_host).collect()
}

/// Calls until one is a replay: the first runs as ever, the second is recorded.
const CALLS: usize = 3;

/// The results of the last of some calls, which is a replay in the mode that records.
///
/// # Errors
/// As [`Executable::run`].
pub(crate) fn replayed(executable: &Executable, given: &[HostTensor]) -> Result<Vec<HostTensor>> {
    (1..CALLS).try_for_each(|_| run(executable, given).map(drop))?;
    run(executable, given)
}

/// Tensors in memory of an executable's device.
///
/// # Errors
/// Out of memory.
pub(crate) fn arrays(executable: &Executable, given: &[HostTensor]) -> Result<Vec<Array>> {
    let pool = executable.device().pool();
    given.iter().map(|t| Array::from_bytes(pool, t.dtype(), t.shape(), t.bytes())).collect()
}

/// A graph with those of the arguments that are frozen.
pub(crate) fn module(graph: &Graph, all: &[HostTensor]) -> Module {
    let frozen = graph.inputs.iter().zip(all).enumerate().filter(|(_, (d, _))| d.frozen);
    let frozen = frozen.map(|(slot, (_, t))| Frozen { slot: slot as u32, data: Arc::new(t.clone()) }).collect();
    Module { graph: graph.clone(), frozen }
}
