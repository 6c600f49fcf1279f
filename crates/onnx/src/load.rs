//! From a file or bytes to an [`Import`].

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use base::{Error, Result};
use bytes::Bytes;
use graph::{HostTensor, Module};
use prost::Message;
use scalar::{DType, Sym};

use crate::ctx::Ctx;
use crate::proto::{GraphProto, ModelProto};
use crate::{import, ops};

/// How to read a model.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// Dimensions to fix, by the name that the file or [`Import::inputs`] shows.
    pub fixed_dims: BTreeMap<String, i64>,
    /// Inputs to bind to constants; they are no inputs of the module.
    pub constants: BTreeMap<String, HostTensor>,
    /// Whether dynamic dimensions may be 0. Without, they are at least 1, which makes derived shapes simpler.
    pub allow_empty: bool,
    /// Largest file accepted, in bytes.
    pub max_bytes: u64,
    /// Most nodes and constants accepted, those of subgraphs included.
    pub max_nodes: usize,
}

impl Default for LoadOptions {
    fn default() -> Self {
        LoadOptions {
            fixed_dims: BTreeMap::new(),
            constants: BTreeMap::new(),
            allow_empty: false,
            max_bytes: 4 << 30,
            max_nodes: 200_000,
        }
    }
}

/// Name and type of an input or output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueInfo {
    /// Name.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Extents; symbols where they are dynamic.
    pub dims: Vec<Sym>,
}

/// An imported model.
#[derive(Clone, Debug)]
pub struct Import {
    /// The program: `inputs` first, then one frozen input a weight.
    pub module: Module,
    /// Inputs that a run must give, in order.
    pub inputs: Vec<ValueInfo>,
    /// Outputs, in order.
    pub outputs: Vec<ValueInfo>,
    /// Version of the default op set.
    pub opset: i64,
    /// Exporter and its version.
    pub producer: String,
    /// Remarks, e.g. symbols made for unnamed dimensions.
    pub notes: Vec<String>,
}

/// Reads a model file.
///
/// # Errors
/// A file that cannot be read or is malformed, ops that are not supported (all of them in one error, with counts), or a
/// shape operand that depends on data.
pub fn load(path: &Path, options: &LoadOptions) -> Result<Import> {
    let at = |e: Error| e.context(path.display().to_string());
    let file = File::open(path).map_err(|e| at(e.into()))?;
    let size = file.metadata().map_err(|e| at(e.into()))?.len();
    check_size(size, options).map_err(at)?;
    let mut bytes = Vec::new();
    file.take(options.max_bytes).read_to_end(&mut bytes).map_err(|e| at(e.into()))?;
    decode(bytes.into(), path.parent(), options).map_err(at)
}

/// Reads a model from bytes; `base_dir` is the folder that external data may lie in.
///
/// # Errors
/// As [`load`].
pub fn load_bytes(bytes: &[u8], base_dir: Option<&Path>, options: &LoadOptions) -> Result<Import> {
    check_size(bytes.len() as u64, options)?;
    decode(Bytes::copy_from_slice(bytes), base_dir, options)
}

fn check_size(size: u64, options: &LoadOptions) -> Result<()> {
    if size > options.max_bytes {
        return Err(Error::invalid(format!("the model has {size} bytes; the limit is {}", options.max_bytes)));
    }
    Ok(())
}

fn decode(bytes: Bytes, folder: Option<&Path>, options: &LoadOptions) -> Result<Import> {
    let model = ModelProto::decode(bytes).map_err(|e| Error::parse(format!("not an ONNX model: {e}")))?;
    load_model(&model, folder, options)
}

/// Imports a decoded model.
///
/// # Errors
/// As [`load`].
pub fn load_model(model: &ModelProto, folder: Option<&Path>, options: &LoadOptions) -> Result<Import> {
    let graph = model.graph.as_ref().ok_or_else(|| Error::parse("not an ONNX model: it has no graph"))?;
    let size = count(graph);
    if size > options.max_nodes {
        return Err(Error::invalid(format!("the model has {size} nodes and constants; the limit is {}", options.max_nodes)));
    }
    let opsets = opsets(model);
    let opset = opsets.get("").copied().unwrap_or(1);
    ops::check(graph, &opsets)?;
    let mut ctx = Ctx::new(opsets, folder.map(Path::to_owned));
    let parts = import::model(&mut ctx, graph, options)?;
    let producer = [model.producer_name(), model.producer_version()].join(" ").trim().to_owned();
    Ok(Import { module: parts.module, inputs: parts.inputs, outputs: parts.outputs, opset, producer, notes: ctx.notes })
}

/// Versions by domain; `ai.onnx` is the empty domain.
fn opsets(model: &ModelProto) -> BTreeMap<String, i64> {
    let entry = |id: &crate::proto::OperatorSetId| (ops::domain(id.domain()).to_owned(), id.version());
    model.opset_import.iter().map(entry).collect()
}

/// Nodes and constants of a graph and its subgraphs.
fn count(graph: &GraphProto) -> usize {
    let inner = |n: &crate::proto::NodeProto| {
        let attributes = n.attribute.iter().flat_map(|a| a.g.iter().chain(&a.graphs)).map(count);
        1 + n.input.len() + n.output.len() + attributes.sum::<usize>()
    };
    graph.initializer.len() + graph.input.len() + graph.output.len() + graph.node.iter().map(inner).sum::<usize>()
}
