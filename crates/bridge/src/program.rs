//! Compiled programs with one set of sizes.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::Arc;

use base::{Config, DeviceId, Error, Numerics, Result};
use driver::Executable;
use fuseline::zoo;
use graph::{HostTensor, Module, text};
use scalar::DType;
use serde_json::{Value, json};

/// A compiled program.
pub struct Program {
    pub(crate) executable: Executable,
    /// Types of the inputs that are not frozen, in the order of their slots, and of the outputs.
    pub(crate) inputs: Vec<Type>,
    pub(crate) outputs: Vec<Type>,
    weights: BTreeMap<usize, Arc<HostTensor>>,
    description: CString,
}

/// Type of a dense tensor.
pub(crate) struct Type {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
}

impl Type {
    pub(crate) fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype.size()
    }
}

impl Program {
    /// Compiles the text of a graph with fixed sizes, or a model `zoo:NAME` at its usual sizes; `numerics` are `eager` or `wide`.
    ///
    /// # Errors
    /// A text, device or name that is not understood; symbolic sizes; what compiling gives.
    pub fn open(source: &str, device: &str, numerics: &str) -> Result<Program> {
        let config = Config { device: device.parse::<DeviceId>()?, numerics: self::numerics(numerics)?, ..Config::from_env()? };
        let (module, shapes) = load(source)?;
        let executable = driver::compile(&module, &config)?;
        let bound = executable.bound(&BTreeMap::new(), shapes.clone(), &vec![None; module.graph.outputs.len()])?;
        let outputs = executable.output_types(&bound)?;
        let given = module.graph.inputs.iter().filter(|d| !d.frozen);
        let inputs: Vec<Type> = given.zip(shapes).map(|(d, shape)| Type { dtype: d.ty.dtype, shape }).collect();
        let outputs: Vec<Type> = outputs.into_iter().map(|(dtype, shape)| Type { dtype, shape }).collect();
        let weights: BTreeMap<_, _> = module.frozen.iter().map(|f| (f.slot as usize, f.data.clone())).collect();
        let kernels = executable.plan().kernels.iter().filter(|k| !k.once).count();
        let text = describe(&module, &inputs, &outputs, &weights, kernels).to_string();
        let description = CString::new(text).map_err(|_| Error::invalid("a name contains a zero"))?;
        Ok(Program { executable, inputs, outputs, weights, description })
    }

    /// Inputs, outputs and the number of kernels, as JSON.
    pub fn description(&self) -> &CString {
        &self.description
    }

    /// Dense bytes of the frozen input of a slot.
    pub fn weight(&self, slot: usize) -> Option<&[u8]> {
        self.weights.get(&slot).map(|w| w.bytes())
    }

    /// The stream of the program's device; `None` on the CPU.
    pub fn stream(&self) -> Option<usize> {
        self.executable.device().stream()
    }

    /// Waits for everything that was launched.
    ///
    /// # Errors
    /// A failed run-time check or a fault.
    pub fn synchronize(&self) -> Result<()> {
        self.executable.device().synchronize()
    }
}

fn numerics(name: &str) -> Result<Numerics> {
    match name {
        "eager" => Ok(Numerics::Eager),
        "wide" => Ok(Numerics::Wide),
        _ => Err(Error::invalid(format!("numerics {name:?}: use eager or wide"))),
    }
}

/// A module, and the sizes of its inputs that are not frozen.
fn load(source: &str) -> Result<(Module, Vec<Vec<usize>>)> {
    if let Some(name) = source.strip_prefix("zoo:") {
        let model = zoo::build(name, 0)?;
        return Ok((model.module, model.inputs.into_iter().map(|i| i.sizes).collect()));
    }
    let graph = text::parse("the program", source)?;
    if let Some(frozen) = graph.inputs.iter().find(|d| d.frozen) {
        return Err(Error::invalid(format!("input {} is frozen, and a text has no data for it", frozen.name)));
    }
    let extents = |d: &graph::InputDecl| {
        let sizes = d.ty.shape.iter().map(|s| s.as_int().map(|n| n as usize)).collect::<Option<Vec<_>>>();
        sizes.ok_or_else(|| Error::invalid(format!("input {} is {}: give it fixed sizes", d.name, d.ty)))
    };
    let shapes = graph.inputs.iter().map(extents).collect::<Result<_>>()?;
    Ok((Module { graph, frozen: Vec::new() }, shapes))
}

fn describe(
    module: &Module,
    inputs: &[Type],
    outputs: &[Type],
    weights: &BTreeMap<usize, Arc<HostTensor>>,
    kernels: usize,
) -> Value {
    let one = |name: &str, dtype: DType, shape: &[usize]| json!({ "name": name, "dtype": dtype.name(), "shape": shape });
    let decls = &module.graph.inputs;
    let given = decls.iter().filter(|d| !d.frozen).zip(inputs).map(|(d, t)| one(&d.name, t.dtype, &t.shape));
    let results = module.graph.outputs.iter().zip(outputs).map(|(o, t)| one(&o.name, t.dtype, &t.shape));
    let frozen = weights.iter().map(|(&slot, w)| {
        let mut value = one(&decls[slot].name, w.dtype(), w.shape());
        value["slot"] = slot.into();
        value
    });
    json!({
        "inputs": given.collect::<Vec<_>>(),
        "outputs": results.collect::<Vec<_>>(),
        "weights": frozen.collect::<Vec<_>>(),
        "kernels": kernels,
    })
}
