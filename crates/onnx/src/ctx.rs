//! State of an import: one frame per graph being built, names to values, values to nodes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use base::{Error, Result};
use graph::{Builder, Graph, HostTensor, NodeId, Op, compose};
use scalar::{DType, Facts, Scalar, ScalarOp, Shape, Sym};

use crate::known::{Ints, Known, Weight};
use crate::value::Value;

/// What a frame builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// The model's graph, or a throw-away graph that folds constants: weights become its frozen inputs.
    Whole,
    /// The body of a region: whatever it reads from outside becomes a capture.
    Body,
}

/// One graph being built.
pub(crate) struct Frame {
    kind: FrameKind,
    builder: Builder,
    scopes: Vec<BTreeMap<String, Value>>,
    weights: BTreeMap<usize, (Rc<Weight>, NodeId)>,
    captures: Vec<NodeId>,
}

/// A built graph with what it needs from outside.
pub(crate) struct Built {
    pub(crate) graph: Graph,
    /// Data of its frozen inputs, by slot.
    pub(crate) weights: Vec<(u32, HostTensor)>,
    /// Nodes of the enclosing frame that its last inputs stand for.
    pub(crate) captures: Vec<NodeId>,
}

/// State of an import.
pub(crate) struct Ctx {
    /// Versions of the op sets, by domain.
    pub(crate) opsets: BTreeMap<String, i64>,
    /// Where external data may lie.
    pub(crate) folder: Option<PathBuf>,
    /// Remarks for the user.
    pub(crate) notes: Vec<String>,
    frames: Vec<Frame>,
    integers: BTreeMap<(DType, Vec<usize>, Vec<i64>), Rc<Weight>>,
}

impl Ctx {
    pub(crate) fn new(opsets: BTreeMap<String, i64>, folder: Option<PathBuf>) -> Ctx {
        Ctx { opsets, folder, notes: Vec::new(), frames: Vec::new(), integers: BTreeMap::new() }
    }

    /// Starts building a graph.
    pub(crate) fn enter(&mut self, kind: FrameKind, name: &str) {
        let mut builder = Builder::new(name);
        if let Some(outer) = self.frames.last() {
            *builder.facts_mut() = outer.builder.facts().clone();
        }
        self.frames.push(Frame { kind, builder, scopes: vec![BTreeMap::new()], weights: BTreeMap::new(), captures: Vec::new() });
    }
    /// Ends building the innermost graph.
    pub(crate) fn leave(&mut self) -> Built {
        let frame = self.frames.pop().expect("enter and leave are paired");
        let graph = frame.builder.finish();
        let slot = |id: NodeId| match graph.node(id).op {
            Op::Input(slot) => Some(slot),
            _ => None,
        };
        let weights = frame.weights.into_values().filter_map(|(w, id)| Some((slot(id)?, w.data.clone())));
        let mut weights: Vec<_> = if frame.kind == FrameKind::Whole { weights.collect() } else { Vec::new() };
        weights.sort_by_key(|(slot, _)| *slot);
        Built { graph, weights, captures: frame.captures }
    }
    fn top(&self) -> &Frame {
        self.frames.last().expect("a graph is being built")
    }
    fn top_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a graph is being built")
    }
    /// Number of graphs being built.
    pub(crate) fn depth(&self) -> usize {
        self.frames.len()
    }
    /// The builder of the innermost graph.
    pub(crate) fn b(&mut self) -> &mut Builder {
        &mut self.top_mut().builder
    }
    /// What is known about the dimensions.
    pub(crate) fn facts(&self) -> &Facts {
        self.top().builder.facts()
    }
    pub(crate) fn shape(&self, id: NodeId) -> Shape {
        self.top().builder.shape(id).clone()
    }
    pub(crate) fn rank(&self, id: NodeId) -> usize {
        self.top().builder.shape(id).len()
    }
    pub(crate) fn dtype(&self, id: NodeId) -> DType {
        self.top().builder.dtype(id)
    }

    /// Binds a name in the innermost graph.
    ///
    /// # Errors
    /// A name that is bound already.
    pub(crate) fn bind(&mut self, name: &str, value: Value) -> Result<()> {
        let scope = self.top_mut().scopes.last_mut().expect("a frame has a scope");
        match scope.insert(name.to_owned(), value) {
            None => Ok(()),
            Some(_) => Err(Error::parse(format!("value '{name}' is defined twice"))),
        }
    }
    /// The value of a name, captured from enclosing graphs if need be.
    pub(crate) fn lookup(&mut self, name: &str) -> Result<Value> {
        let found = self.resolve(self.frames.len() - 1, name)?;
        found.ok_or_else(|| Error::parse(format!("value '{name}' is not defined")))
    }
    fn resolve(&mut self, depth: usize, name: &str) -> Result<Option<Value>> {
        if let Some(value) = self.frames[depth].scopes.iter().rev().find_map(|s| s.get(name)) {
            return Ok(Some(value.clone()));
        }
        if depth == 0 || self.frames[depth].kind == FrameKind::Whole {
            return Ok(None);
        }
        let Some(outer) = self.resolve(depth - 1, name)? else { return Ok(None) };
        let node = match (&outer.known, outer.node) {
            (None, Some(node)) => Some(self.capture(depth, node)?),
            _ => None,
        };
        let value = Value { node, known: outer.known };
        self.frames[depth].scopes[0].insert(name.to_owned(), value.clone());
        Ok(Some(value))
    }
    /// Runs `f` with a scope of names of its own in the innermost graph.
    pub(crate) fn scoped<R>(&mut self, f: impl FnOnce(&mut Ctx) -> R) -> R {
        self.top_mut().scopes.push(BTreeMap::new());
        let result = f(self);
        self.top_mut().scopes.pop();
        result
    }
    /// Makes a node of the enclosing frame a capture of the innermost body.
    pub(crate) fn capture_first(&mut self, outer: NodeId) -> Result<NodeId> {
        self.capture(self.frames.len() - 1, outer)
    }
    /// An input of a body that stands for a node of the enclosing frame.
    fn capture(&mut self, depth: usize, outer: NodeId) -> Result<NodeId> {
        if let Some(i) = self.frames[depth].captures.iter().position(|&c| c == outer) {
            let name = format!("capture_{}", i + 1);
            let slot = self.frames[depth].builder.graph().inputs.iter().position(|d| d.name == name);
            let slot = slot.ok_or_else(|| Error::internal("a capture without its input"))?;
            return self.frames[depth].builder.input_slot(slot as u32);
        }
        let ty = self.frames[depth - 1].builder.graph().tensor(outer).clone();
        let frame = &mut self.frames[depth];
        frame.captures.push(outer);
        let name = format!("capture_{}", frame.captures.len());
        frame.builder.input(name, ty.dtype, ty.shape, false)
    }

    /// The node of a value in the innermost graph.
    pub(crate) fn node(&mut self, value: &Value) -> Result<NodeId> {
        match (value.node, &value.known) {
            (Some(node), _) => Ok(node),
            (None, Some(Known::Ints(ints))) => self.ints_node(ints),
            (None, Some(Known::Host(weight))) => self.weight(self.frames.len() - 1, weight),
            (None, None) => Err(Error::internal("a value with neither node nor constant")),
        }
    }
    /// Symbolic integers as a node of their dtype.
    fn ints_node(&mut self, ints: &Ints) -> Result<NodeId> {
        if let Some(numbers) = ints.consts() {
            let name = format!("integers_{}", self.integers.len());
            let data = HostTensor::from_i64s(ints.dtype, &ints.shape, &numbers);
            let entry = self.integers.entry((ints.dtype, ints.shape.clone(), numbers));
            let weight = entry.or_insert_with(|| Rc::new(Weight { name, data })).clone();
            return self.weight(self.frames.len() - 1, &weight);
        }
        let b = self.b();
        let parts = ints.values.iter().map(|v| b.sym(v).and_then(|s| b.reshape(s, [1i64]))).collect::<Result<Vec<_>>>()?;
        let flat = if parts.len() == 1 { parts[0] } else { b.concat(&parts, 0)? };
        let shaped = b.reshape(flat, ints.shape.iter().copied())?;
        self.cast(shaped, ints.dtype)
    }
    /// A constant: a 0-d constant expanded when all elements are equal, else a frozen input of the whole graph.
    fn weight(&mut self, depth: usize, weight: &Rc<Weight>) -> Result<NodeId> {
        let key = Rc::as_ptr(weight) as usize;
        if let Some((_, node)) = self.frames[depth].weights.get(&key) {
            return Ok(*node);
        }
        let frame = &mut self.frames[depth];
        let node = if let Some(value) = uniform(&weight.data) {
            uniform_node(&mut frame.builder, value, weight.data.shape())?
        } else if frame.kind == FrameKind::Whole {
            let name = unique(frame.builder.graph(), &weight.name);
            frame.builder.input(name, weight.data.dtype(), weight.data.shape().iter().copied(), true)?
        } else {
            let outer = self.weight(depth - 1, weight)?;
            self.capture(depth, outer)?
        };
        self.frames[depth].weights.insert(key, (weight.clone(), node));
        Ok(node)
    }

    /// The extents of a value.
    pub(crate) fn extents(&self, value: &Value) -> Shape {
        match (value.node, &value.known) {
            (Some(node), _) => self.shape(node),
            (None, Some(Known::Ints(i))) => i.shape.iter().map(|&d| Sym::from(d)).collect(),
            (None, Some(Known::Host(w))) => w.data.shape().iter().map(|&d| Sym::from(d)).collect(),
            (None, None) => Shape::new(),
        }
    }
    /// The element type of a value.
    pub(crate) fn value_dtype(&self, value: &Value) -> DType {
        match (value.node, &value.known) {
            (Some(node), _) => self.dtype(node),
            (None, Some(known)) => known.dtype(),
            (None, None) => DType::F32,
        }
    }
    /// A shape-like operand: a vector of known integers.
    ///
    /// # Errors
    /// An operand that depends on data.
    pub(crate) fn vector(&self, value: &Value, what: &str) -> Result<Vec<Sym>> {
        value.vector().ok_or_else(|| data_dependent(what))
    }
    /// An operand that must be a vector of constant integers.
    ///
    /// # Errors
    /// An operand that depends on data or on dimensions.
    pub(crate) fn numbers(&self, value: &Value, what: &str) -> Result<Vec<i64>> {
        let ints = value.ints().ok_or_else(|| data_dependent(what))?;
        ints.consts().ok_or_else(|| Error::unsupported(format!("{what} depends on dynamic dimensions")))
    }
    /// An operand that must be one constant number.
    ///
    /// # Errors
    /// An operand that depends on data, or has several elements.
    pub(crate) fn number(&self, value: &Value, what: &str) -> Result<Scalar> {
        match value.host().ok_or_else(|| data_dependent(what))? {
            host if host.len() == 1 => Ok(host.get(0)),
            host => Err(Error::parse(format!("{what} has shape {:?}; one element expected", host.shape()))),
        }
    }

    /// Pointwise on one operand.
    pub(crate) fn un(&mut self, op: ScalarOp, x: NodeId) -> Result<NodeId> {
        self.b().map(op, &[x])
    }
    /// Pointwise on two operands, with numpy's broadcasting.
    pub(crate) fn bin(&mut self, op: ScalarOp, a: NodeId, b: NodeId) -> Result<NodeId> {
        let parts = self.broadcast(&[a, b])?;
        self.b().map(op, &parts)
    }
    /// Pointwise on an operand and a constant of its dtype.
    pub(crate) fn with(&mut self, op: ScalarOp, x: NodeId, value: f64) -> Result<NodeId> {
        let c = self.number_node(self.dtype(x), value)?;
        self.bin(op, x, c)
    }
    /// `c ? a : b` with broadcasting.
    pub(crate) fn select(&mut self, c: NodeId, a: NodeId, b: NodeId) -> Result<NodeId> {
        let parts = self.broadcast(&[c, a, b])?;
        self.b().map(ScalarOp::Select, &parts)
    }
    /// Conversion; nothing when the dtype is right.
    pub(crate) fn cast(&mut self, x: NodeId, dtype: DType) -> Result<NodeId> {
        if self.dtype(x) == dtype { Ok(x) } else { self.un(ScalarOp::Cast(dtype), x) }
    }
    /// 0-d constant.
    pub(crate) fn number_node(&mut self, dtype: DType, value: f64) -> Result<NodeId> {
        self.b().constant(Scalar::from_f64(dtype, value))
    }
    /// 0-d value of a symbolic integer.
    pub(crate) fn sym_node(&mut self, value: &Sym, dtype: DType) -> Result<NodeId> {
        match value.as_int() {
            Some(n) => self.b().constant(Scalar::from_i64(dtype, n)),
            None => {
                let s = self.b().sym(value)?;
                self.cast(s, dtype)
            }
        }
    }
    /// The same value everywhere in a shape.
    pub(crate) fn full(&mut self, value: Scalar, shape: &Shape) -> Result<NodeId> {
        let c = self.b().constant(value)?;
        self.expand(c, shape)
    }
    /// One shape for all, with numpy's broadcasting: only a literal 1 repeats; other extents must be equal.
    pub(crate) fn broadcast(&mut self, parts: &[NodeId]) -> Result<Vec<NodeId>> {
        compose::broadcast_all(self.b(), parts)
    }
    /// Adds leading axes and repeats axes of extent 1 until the node has the shape; other extents must be equal.
    pub(crate) fn expand(&mut self, x: NodeId, shape: &Shape) -> Result<NodeId> {
        compose::broadcast_to(self.b(), x, shape)
    }
    /// Inserts axes of extent 1 at the given positions of the result, ascending.
    pub(crate) fn unsqueeze(&mut self, x: NodeId, at: &[usize]) -> Result<NodeId> {
        compose::unsqueeze(self.b(), x, at)
    }
    /// Part of one axis.
    pub(crate) fn slice(&mut self, x: NodeId, axis: usize, start: &Sym, len: &Sym, step: i64) -> Result<NodeId> {
        compose::slice_axis(self.b(), x, axis, start, len, step)
    }
    /// Fill around one axis.
    pub(crate) fn pad(&mut self, x: NodeId, axis: usize, lo: &Sym, hi: &Sym, value: Scalar) -> Result<NodeId> {
        let zeros: Shape = self.shape(x).iter().map(|_| Sym::ZERO).collect();
        let (mut los, mut his) = (zeros.clone(), zeros);
        let interior = vec![0; los.len()];
        (los[axis], his[axis]) = (lo.clone(), hi.clone());
        self.b().pad(x, los, his, &interior, value)
    }
}

/// The error for an operand whose value must be known at import.
pub(crate) fn data_dependent(what: &str) -> Error {
    Error::unsupported(format!("{what} depends on data; only constants and dimensions are known at import"))
}

/// The element that fills a tensor.
fn uniform(data: &HostTensor) -> Option<Scalar> {
    let size = data.dtype().size();
    let (first, rest) = data.bytes().split_at_checked(size)?;
    rest.chunks_exact(size).all(|c| c == first).then(|| data.get(0))
}

fn uniform_node(b: &mut Builder, value: Scalar, shape: &[usize]) -> Result<NodeId> {
    let c = b.constant(value)?;
    if shape.is_empty() {
        return Ok(c);
    }
    let ones = b.reshape(c, shape.iter().map(|_| 1i64))?;
    if shape.iter().all(|&d| d == 1) { Ok(ones) } else { b.expand(ones, shape.iter().copied()) }
}

/// The name, with a number appended until no input has it.
fn unique(graph: &Graph, name: &str) -> String {
    let taken = |n: &str| graph.inputs.iter().any(|i| i.name == n);
    let numbered = (2..).map(|i| format!("{name}_{i}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|n| !n.is_empty() && !taken(n)).expect("numbers do not end")
}
