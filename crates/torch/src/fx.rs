//! An FX graph of ATen ops as plain data: what the Python side writes as JSON.
//!
//! Arguments are complete: every parameter of the op's schema is there by name, defaults included.

use std::collections::BTreeMap;

use base::{Error, Result};
use scalar::{DType, Shape, Sym};
use serde::Deserialize;

use crate::layout::Layout;

/// Version of the JSON form.
pub const VERSION: u32 = 1;

/// Index of a node in [`Graph::nodes`]; operands have smaller ones.
pub type Id = usize;

/// A traced graph in topological order.
#[derive(Clone, Debug, Deserialize)]
pub struct Graph {
    /// Version of the form.
    pub version: u32,
    /// Function name.
    pub name: String,
    /// Nodes; operands precede users.
    pub nodes: Vec<Node>,
    /// Bounds of the symbols in shapes, inclusive; `None` is unbounded.
    pub symbols: BTreeMap<String, (Option<i64>, Option<i64>)>,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An argument of the call, in order.
    Input,
    /// An attribute of the module: a constant tensor, or a body of a higher-order op.
    Attribute,
    /// An op.
    Call,
    /// The results: [`Node::args`] has one, `results`, a list.
    Output,
}

/// A node.
#[derive(Clone, Debug, Deserialize)]
pub struct Node {
    /// Name in the FX graph.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The op with its overload, `aten.add.Tensor`.
    pub target: String,
    /// Every argument by its name in the schema.
    pub args: BTreeMap<String, Arg>,
    /// Values it depends on, in order of first occurrence.
    pub operands: Vec<Id>,
    /// What it gives.
    pub value: Value,
    /// Whether its place among other such nodes matters: mutation, random state, communication.
    pub effect: bool,
    /// The user's op.
    pub op: String,
    /// File and line of the user.
    pub source: String,
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arg {
    /// Nothing.
    None,
    /// Another node's value.
    Node(Id),
    /// A flag.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float, as Python prints it (`nan`, `inf` too).
    Float(String),
    /// A text.
    Str(String),
    /// Several.
    List(Vec<Arg>),
    /// A tensor element type.
    Dtype(String),
    /// Anything else, as Python prints it: a device, a layout, a body.
    Other(String),
}

/// What a node gives, as tracing saw it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// Nothing.
    None,
    /// A tensor.
    Tensor(Tensor),
    /// A symbolic or plain integer.
    Int(Size),
    /// Several values.
    List(Vec<Value>),
    /// Anything else, as Python prints its type: a float, a subclass, a body.
    Other(String),
}

/// An expression over symbols, or why it is none that [`Sym`] can state.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "String")]
pub struct Size(std::result::Result<Sym, String>);

impl From<String> for Size {
    fn from(text: String) -> Size {
        Size(Sym::parse(&text).map_err(|e| format!("size expression {text}: {e}")))
    }
}

impl Size {
    /// The expression.
    ///
    /// # Errors
    /// Unsupported outside the grammar of [`Sym`].
    pub fn sym(&self) -> Result<Sym> {
        self.0.clone().map_err(Error::unsupported)
    }
    /// The expression, where there is one.
    pub fn known(&self) -> Option<&Sym> {
        self.0.as_ref().ok()
    }
}

/// Type, layout and identity of a tensor.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Tensor {
    /// Element type, by Fuseline's name where there is one, else torch's (`complex64`).
    pub dtype: String,
    /// Extents.
    pub shape: Vec<Size>,
    /// Distances of neighbours in elements.
    pub strides: Vec<Size>,
    /// Element of the storage at index 0.
    pub offset: Size,
    /// Number of the storage: tensors that share one are views of each other.
    pub storage: u64,
    /// Whether it is a plain dense tensor on the CPU, which generated kernels can read.
    pub plain: bool,
}

impl Graph {
    /// Reads the JSON form.
    ///
    /// # Errors
    /// Malformed JSON, another version, or an operand that does not precede its user.
    pub fn from_json(text: &str) -> Result<Graph> {
        let graph: Graph = serde_json::from_str(text).map_err(|e| Error::invalid(format!("FX graph: {e}")))?;
        if graph.version != VERSION {
            return Err(Error::invalid(format!("FX graph has version {}, expected {VERSION}", graph.version)));
        }
        for (id, node) in graph.nodes.iter().enumerate() {
            if let Some(bad) = node.operands.iter().find(|&&o| o >= id) {
                return Err(Error::invalid(format!("FX node {}: operand {bad} does not precede it", node.name)));
            }
        }
        Ok(graph)
    }
}

impl Tensor {
    /// Element type.
    ///
    /// # Errors
    /// Unsupported for one that graphs lack.
    pub fn element_type(&self) -> Result<DType> {
        DType::parse(&self.dtype).ok_or_else(|| Error::unsupported(format!("dtype {}", self.dtype)))
    }
    /// Extents.
    ///
    /// # Errors
    /// As [`Size::sym`].
    pub fn extents(&self) -> Result<Shape> {
        self.shape.iter().map(Size::sym).collect()
    }
    /// Extents and strides.
    ///
    /// # Errors
    /// As [`Size::sym`].
    pub fn layout(&self) -> Result<Layout> {
        Ok(Layout { shape: self.extents()?, strides: self.strides.iter().map(Size::sym).collect::<Result<_>>()? })
    }
    /// Element of the storage at index 0.
    ///
    /// # Errors
    /// As [`Size::sym`].
    pub fn start(&self) -> Result<Sym> {
        self.offset.sym()
    }
}

impl Value {
    /// One of its results, if that is a tensor; a tensor is its only result.
    pub fn result(&self, index: usize) -> Option<&Tensor> {
        match self {
            Value::Tensor(t) if index == 0 => Some(t),
            Value::List(list) => list.get(index).and_then(Value::tensor),
            _ => None,
        }
    }
    /// The tensor, if it is one.
    pub fn tensor(&self) -> Option<&Tensor> {
        match self {
            Value::Tensor(t) => Some(t),
            _ => None,
        }
    }
    /// The tensors among its results, each with its number.
    pub fn numbered(&self) -> Vec<(usize, &Tensor)> {
        match self {
            Value::Tensor(t) => vec![(0, t)],
            Value::List(list) => list.iter().enumerate().filter_map(|(i, v)| Some((i, v.tensor()?))).collect(),
            _ => Vec::new(),
        }
    }
    /// The tensors among its results.
    pub fn tensors(&self) -> Vec<&Tensor> {
        self.numbered().into_iter().map(|(_, t)| t).collect()
    }
}

/// Whether a node is an integer that follows from sizes and other integers; reading one from a tensor is a call of torch.
pub(crate) fn is_number(node: &Node) -> bool {
    matches!(node.value, Value::Int(_)) && !node.effect && node.target != "aten._local_scalar_dense.default"
}

/// Whether a node picks one of several results of another; torch itself picks a result that is several.
pub(crate) fn is_item(node: &Node) -> bool {
    node.target == "operator.getitem" && !matches!(node.value, Value::List(_))
}
