//! One ONNX node with resolved operands and typed attribute access.

use base::{Error, Result};
use graph::HostTensor;

use crate::proto::{AttributeProto, GraphProto, NodeProto, TensorProto};
use crate::tensor;
use crate::value::Value;

/// A node being imported.
pub(crate) struct Node<'a> {
    proto: &'a NodeProto,
    /// Version of the node's op set.
    pub(crate) opset: i64,
    /// Operands; `None` where omitted.
    pub(crate) inputs: Vec<Option<Value>>,
}

impl<'a> Node<'a> {
    pub(crate) fn new(proto: &'a NodeProto, opset: i64, inputs: Vec<Option<Value>>) -> Node<'a> {
        Node { proto, opset, inputs }
    }
    /// Op name.
    pub(crate) fn op(&self) -> &'a str {
        self.proto.op_type()
    }
    /// The node's name, or its first result's name.
    pub(crate) fn label(&self) -> &'a str {
        label(self.proto)
    }
    /// Number of declared results, trailing unused ones excluded.
    pub(crate) fn outputs(&self) -> usize {
        self.proto.output.iter().rposition(|o| !o.is_empty()).map_or(0, |i| i + 1)
    }
    /// Whether a result is used.
    pub(crate) fn wants(&self, output: usize) -> bool {
        self.proto.output.get(output).is_some_and(|o| !o.is_empty())
    }
    /// A required operand.
    pub(crate) fn input(&self, i: usize) -> Result<&Value> {
        self.maybe(i).ok_or_else(|| Error::parse(format!("operand {i} is missing")))
    }
    /// An optional operand.
    pub(crate) fn maybe(&self, i: usize) -> Option<&Value> {
        self.inputs.get(i).and_then(Option::as_ref)
    }
    /// All operands, none of which may be omitted.
    pub(crate) fn all(&self) -> Result<Vec<&Value>> {
        (0..self.inputs.len()).map(|i| self.input(i)).collect()
    }
    fn attribute(&self, name: &str) -> Option<&'a AttributeProto> {
        self.proto.attribute.iter().find(|a| a.name() == name)
    }
    /// Whether the attribute is present.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.attribute(name).is_some()
    }
    /// Integer attribute.
    pub(crate) fn int(&self, name: &str, default: i64) -> i64 {
        self.attribute(name).and_then(|a| a.i).unwrap_or(default)
    }
    /// Boolean attribute.
    pub(crate) fn flag(&self, name: &str, default: bool) -> bool {
        self.int(name, i64::from(default)) != 0
    }
    /// Float attribute.
    pub(crate) fn float(&self, name: &str, default: f32) -> f32 {
        self.attribute(name).and_then(|a| a.f).unwrap_or(default)
    }
    /// String attribute.
    pub(crate) fn string(&self, name: &str, default: &'a str) -> &'a str {
        self.attribute(name).and_then(|a| a.s.as_ref()).map_or(default, |s| std::str::from_utf8(s).unwrap_or("?"))
    }
    /// Integer list attribute.
    pub(crate) fn ints(&self, name: &str) -> Option<&'a [i64]> {
        self.attribute(name).map(|a| a.ints.as_slice())
    }
    /// Float list attribute.
    pub(crate) fn floats(&self, name: &str) -> Option<&'a [f32]> {
        self.attribute(name).map(|a| a.floats.as_slice())
    }
    /// String list attribute.
    pub(crate) fn strings(&self, name: &str) -> Vec<&'a str> {
        let strings = self.attribute(name).map_or(&[][..], |a| a.strings.as_slice());
        strings.iter().map(|s| std::str::from_utf8(s).unwrap_or("?")).collect()
    }
    /// Tensor attribute as a host tensor.
    pub(crate) fn tensor(&self, name: &str) -> Result<Option<HostTensor>> {
        self.tensor_proto(name).map(|t| tensor::read(t, None)).transpose()
    }
    /// Tensor attribute as it is stored.
    pub(crate) fn tensor_proto(&self, name: &str) -> Option<&'a TensorProto> {
        self.attribute(name).and_then(|a| a.t.as_ref())
    }
    /// Subgraph attribute.
    pub(crate) fn graph(&self, name: &str) -> Result<&'a GraphProto> {
        self.attribute(name).and_then(|a| a.g.as_ref()).ok_or_else(|| Error::parse(format!("attribute {name} is not a graph")))
    }
}

/// What users call a node: its name, else its first result's name.
pub(crate) fn label(proto: &NodeProto) -> &str {
    if proto.name().is_empty() { proto.output.first().map_or("", String::as_str) } else { proto.name() }
}

/// An axis counted from the end when negative.
pub(crate) fn axis(axis: i64, rank: usize) -> Result<usize> {
    let n = rank as i64;
    let wrapped = if axis < 0 { axis.checked_add(n) } else { Some(axis) };
    match wrapped {
        Some(a) if (0..n).contains(&a) => Ok(a as usize),
        _ => Err(Error::parse(format!("axis {axis} is out of range for rank {rank}"))),
    }
}

/// Distinct axes in ascending order.
pub(crate) fn axes(list: &[i64], rank: usize) -> Result<Vec<usize>> {
    let mut out = list.iter().map(|&a| axis(a, rank)).collect::<Result<Vec<_>>>()?;
    out.sort_unstable();
    if out.windows(2).any(|w| w[0] == w[1]) {
        return Err(Error::parse(format!("axes {list:?} repeat")));
    }
    Ok(out)
}
