//! The graph data types.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use scalar::{Combiner, DType, Facts, Scalar, ScalarOp, Shape, Sym};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::HostTensor;

/// Index of a node in [`Graph::nodes`]; operands always have smaller ids.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(pub u32);

impl NodeId {
    /// As a vector index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

/// Index into [`Graph::origins`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OriginId(pub u32);

/// Where a node comes from, in the user's words.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Origin {
    /// The user's op, e.g. `softmax` or `Conv`. Nodes that share an origin id are one user op: eager mode runs them as one kernel.
    pub op: String,
    /// File and line, or the ONNX node name; empty if unknown.
    pub source: String,
}

/// Element type and symbolic shape of one tensor.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TensorType {
    /// Element type.
    pub dtype: DType,
    /// One extent per axis.
    pub shape: Shape,
}

/// Type of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Type {
    /// One tensor.
    Tensor(TensorType),
    /// Several results, read by [`Op::Result`].
    Tuple(Vec<TensorType>),
}

/// A layout-only op. Each defines where output position `o` reads the operand, and whether it reads at all.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum View {
    /// Same elements in row-major order under another shape. Equal element counts are proved or guarded.
    Reshape(Shape),
    /// `out[o] = x[o permuted]`: output axis `i` is operand axis `perm[i]`.
    Permute(SmallVec<[usize; 6]>),
    /// Axes of extent 1 repeated to the given shape (same rank); other axes keep their extent.
    Expand(Shape),
    /// `out[o] = x[start + o · step]` per axis, `step ≥ 1`, output extents `len`.
    Slice {
        /// First index per axis.
        start: Shape,
        /// Output extent per axis.
        len: Shape,
        /// Step per axis, at least 1.
        step: SmallVec<[i64; 4]>,
    },
    /// Reverses the listed axes.
    Flip(SmallVec<[usize; 4]>),
    /// Surrounds with `lo` and `hi` fill elements and puts `interior` between neighbours, per axis. `lo`, `hi` ≥ 0.
    Pad {
        /// Elements before, per axis.
        lo: Shape,
        /// Elements after, per axis.
        hi: Shape,
        /// Elements between neighbours, per axis.
        interior: SmallVec<[i64; 4]>,
        /// The fill, of the operand's dtype.
        value: Scalar,
    },
    /// `out[…, o, …, k] = x[…, o·stride + k·dilation, …]`: axis `axis` becomes the window positions, a new last axis the `size` taps.
    /// Output extent: `⌊(n − dilation·(size−1) − 1) / stride⌋ + 1`.
    Window {
        /// The axis that slides.
        axis: usize,
        /// Taps.
        size: Sym,
        /// Distance of neighbouring windows.
        stride: i64,
        /// Distance of neighbouring taps.
        dilation: i64,
    },
}

/// A two-operand einsum: each axis of `a`, `b` and the output has a label.
///
/// Labels in both operands and the output are batch; in both operands only, contracted; in one operand and the output, free.
/// A label in one operand only is summed there. Each label occurs at most once per operand.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ContractSpec {
    /// Labels of the first operand's axes.
    pub a: SmallVec<[u8; 6]>,
    /// Labels of the second operand's axes.
    pub b: SmallVec<[u8; 6]>,
    /// Labels of the output's axes.
    pub out: SmallVec<[u8; 6]>,
    /// Accumulator dtype.
    pub acc: DType,
}

/// How [`Op::Write`] combines the written value with what was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum WriteCombine {
    Set,
    Add,
    Mul,
    Max,
    Min,
}

/// Where [`Op::Write`] writes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum At {
    /// The positions that a slice of the destination would read: `start`, `step` per axis. Operands: dst, src.
    Slice {
        /// First index per axis.
        start: Shape,
        /// Step per axis, at least 1.
        step: SmallVec<[i64; 4]>,
    },
    /// A block whose start is given by 0-d i64 operands, one per listed axis; clamped into range. Operands: dst, src, starts….
    Dynamic {
        /// Axes with a run-time start; others start at 0.
        axes: SmallVec<[usize; 4]>,
    },
    /// `dst[p with p[axes] ← idxₖ(p)] = src[p]`; indices have src's shape. Operands: dst, src, indices (i64)….
    Indices {
        /// Axes of the destination that are indexed.
        axes: SmallVec<[usize; 4]>,
        /// Whether no position is written twice.
        unique: bool,
    },
}

/// Control flow over body graphs. Captured values are passed as operands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Region {
    /// Operands: 0-d bool condition, captures…. Both bodies take the captures and give the same types.
    If {
        /// Taken when the condition holds.
        then: Arc<Graph>,
        /// Taken otherwise.
        other: Arc<Graph>,
    },
    /// Operands: carried…, scanned…, captures…. The body takes (0-d i64 step, carried…, one slice of each scanned…, captures…)
    /// and gives (carried…, one slice of each stacked output…). Scanned operands and stacked outputs have the step as axis 0.
    /// Results: final carried…, stacked….
    Loop {
        /// Number of steps.
        trip: Sym,
        /// Number of carried values.
        carried: usize,
        /// Number of scanned operands.
        scanned: usize,
        /// One step.
        body: Arc<Graph>,
    },
}

/// A structural op.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Op {
    /// Parameter slot; index into [`Graph::inputs`].
    Input(u32),
    /// 0-d constant.
    Const(Scalar),
    /// 0-d i64 whose value is a symbolic integer over the graph's dimensions.
    SymConst(Sym),
    /// `[len]` of 0, 1, 2, … as i64.
    Iota(Sym),
    /// Pointwise on operands of equal shape; no implicit broadcast.
    Map(ScalarOp),
    /// Reduces the listed axes (ascending), which disappear. Several results when the combiner has several components.
    Reduce(Combiner, SmallVec<[usize; 4]>),
    /// Inclusive scan along an axis; results have the operands' shape.
    Scan(Combiner, usize),
    /// Layout only.
    View(View),
    /// Joins operands along an axis.
    Concat(usize),
    /// Two-operand contraction.
    Contract(ContractSpec),
    /// `out[p] = x[p with p[axes] ← idxₖ(p)]`. Operands: x, indices (i64, of output shape)…; other axes of x have the output's extents.
    /// Negative indices do not wrap; out of range is an error at run time naming node and index.
    Gather(SmallVec<[usize; 4]>),
    /// New value of the first operand with the second written at [`At`].
    Write(WriteCombine, At),
    /// A definition of the [`crate::call`] registry, by name, with static attributes.
    Call(String, BTreeMap<String, i64>),
    /// Control flow.
    Region(Region),
    /// One result of a multi-result node.
    Result(u32),
    /// Identity that forces a buffer and stops fusion across it.
    Materialize,
}

/// A node: op, operands, type, origin.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Node {
    /// What it does.
    pub op: Op,
    /// Operands, all with smaller ids.
    pub args: SmallVec<[NodeId; 3]>,
    /// Type, by inference.
    pub ty: Type,
    /// Where it comes from; not part of the identity used for sharing.
    pub origin: OriginId,
}

/// Declaration of a graph input.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct InputDecl {
    /// Name, unique in the graph.
    pub name: String,
    /// Type; shape variables are bound by the arguments.
    pub ty: TensorType,
    /// A weight: never changes between runs.
    pub frozen: bool,
    /// The caller gives the buffer away: an output may take it.
    pub donated: bool,
}

/// A named graph output.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Output {
    /// Name.
    pub name: String,
    /// Value.
    pub value: NodeId,
}

/// An equality `left = right` that could not be proved and is checked when a run binds the dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Guard {
    /// One side.
    pub left: Sym,
    /// Other side.
    pub right: Sym,
    /// Who needs it, e.g. `add at model.rs:12: shapes [n] and [m]`.
    pub reason: String,
}

/// A tensor program in topological order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Graph {
    /// Name of the function.
    pub name: String,
    /// Nodes; operands precede users.
    pub nodes: Vec<Node>,
    /// Parameter slots.
    pub inputs: Vec<InputDecl>,
    /// Results.
    pub outputs: Vec<Output>,
    /// What is known about the dimensions.
    pub facts: Facts,
    /// Equalities to check at run time.
    pub guards: Vec<Guard>,
    /// Origins; entry 0 is the empty origin.
    pub origins: Vec<Origin>,
}

/// Data bound to a frozen input.
#[derive(Clone, Debug)]
pub struct Frozen {
    /// Input slot.
    pub slot: u32,
    /// The weight.
    pub data: Arc<HostTensor>,
}

/// A graph with the data of its frozen inputs: what a face hands to the driver.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The program.
    pub graph: Graph,
    /// Data of frozen inputs, by slot.
    pub frozen: Vec<Frozen>,
}

impl Graph {
    /// The node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }
    /// Type of a single-result node.
    ///
    /// # Panics
    /// If the node has several results; the verifier excludes such operands.
    pub fn tensor(&self, id: NodeId) -> &TensorType {
        self.node(id).tensor()
    }
    /// Shape of a single-result node.
    pub fn shape(&self, id: NodeId) -> &Shape {
        &self.tensor(id).shape
    }
    /// Element type of a single-result node.
    pub fn dtype(&self, id: NodeId) -> DType {
        self.tensor(id).dtype
    }
    /// Origin of a node.
    pub fn origin(&self, id: NodeId) -> &Origin {
        &self.origins[self.node(id).origin.0 as usize]
    }
    /// Ids in topological order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }
    /// Readers of every node, in order.
    pub fn users(&self) -> Vec<Vec<NodeId>> {
        let mut users = vec![Vec::new(); self.nodes.len()];
        for id in self.ids() {
            for &arg in &self.node(id).args {
                if users[arg.index()].last() != Some(&id) {
                    users[arg.index()].push(id);
                }
            }
        }
        users
    }
}

impl Node {
    /// Type of a single-result node.
    ///
    /// # Panics
    /// If the node has several results.
    pub fn tensor(&self) -> &TensorType {
        match &self.ty {
            Type::Tensor(t) => t,
            Type::Tuple(_) => panic!("{:?} has several results; read one with Result", self.op),
        }
    }
}

impl fmt::Display for TensorType {
    /// `f32[n, 128]`, `i64[]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.dtype)?;
        for (i, s) in self.shape.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{s}")?;
        }
        f.write_str("]")
    }
}
