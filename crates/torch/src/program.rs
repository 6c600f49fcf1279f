//! What a traced graph becomes: generated segments and torch calls in order, and where every tensor lies.

use std::collections::BTreeSet;

use graph::Graph;
use scalar::{DType, Shape, Sym, Var};

use crate::fx::Id;
use crate::layout::Layout;

/// A tensor with memory of its own: an argument, a result of a torch call, or what a segment stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Base {
    /// The node.
    pub node: Id,
    /// Which of its results.
    pub index: usize,
}

/// A view of a base, as torch shows it.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The memory.
    pub base: Base,
    /// Extents and strides.
    pub layout: Layout,
    /// Elements from the base's index 0 to this one's.
    pub offset: Sym,
    /// Whether this is the base itself.
    pub whole: bool,
}

/// A value at a boundary: an operand of a torch call, or a result.
#[derive(Clone, Debug)]
pub enum Passed {
    /// A tensor.
    Tensor(Shown),
    /// An integer.
    Int(Sym),
    /// Whatever a node gave, as it is.
    Object(Id),
    /// Nothing.
    None,
}

/// An input of a segment.
#[derive(Clone, Debug)]
pub enum Read {
    /// A tensor.
    Tensor(Box<TensorRead>),
    /// An integer, as a 0-d i64.
    Integer(Sym),
}

/// A tensor that a segment reads.
#[derive(Clone, Debug)]
pub struct TensorRead {
    /// What it reads.
    pub shown: Shown,
    /// Element type.
    pub dtype: DType,
    /// Extents of the memory as the graph declares it.
    pub declared: Shape,
    /// Whether the memory must be copied densely first, because no view of dense memory has its strides.
    pub copied: bool,
}

/// An argument that a segment overwrites.
#[derive(Clone, Debug)]
pub struct Overwritten {
    /// The argument.
    pub argument: Base,
    /// The segment's input that reads it, if any.
    pub input: Option<usize>,
}

/// An output of a segment.
#[derive(Clone, Debug)]
pub struct Made {
    /// The base it makes.
    pub base: Base,
    /// The argument that it overwrites, instead of memory of its own.
    pub into: Option<Overwritten>,
    /// Element type.
    pub dtype: DType,
    /// Extents and strides as torch has them.
    pub layout: Layout,
    /// Extents in the order of memory, as the graph gives them.
    pub stored: Shape,
    /// Whether torch's strides have gaps, so that the dense result is copied into them.
    pub spread: bool,
}

/// A graph of ours.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The graph; inputs and outputs in the order of the lists below.
    pub graph: Graph,
    /// Inputs.
    pub reads: Vec<Read>,
    /// Outputs.
    pub makes: Vec<Made>,
    /// Symbols whose values the kernels depend on.
    pub symbols: BTreeSet<Var>,
}

/// A call of torch.
#[derive(Clone, Debug)]
pub struct Extern {
    /// The node.
    pub node: Id,
    /// Its operands, in the order of [`crate::fx::Node::operands`].
    pub operands: Vec<Passed>,
    /// Why it is not lowered.
    pub reason: String,
}

/// One step.
#[derive(Clone, Debug)]
pub enum Step {
    /// Generated kernels.
    Segment(Box<Segment>),
    /// A call of torch.
    Extern(Extern),
}

/// A cut graph.
#[derive(Clone, Debug)]
pub struct Program {
    /// Name of the function.
    pub name: String,
    /// Steps in order.
    pub steps: Vec<Step>,
    /// Results.
    pub results: Vec<Passed>,
}
