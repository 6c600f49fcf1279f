//! What a set of lazy tensors has to run: a straight list of steps, which is also the key of compiled code.

use std::hash::Hasher;
use std::sync::Arc;

use base::{HashMap, Result, StableHasher};
use graph::{Builder, HostTensor, NodeId, OriginId, TensorType};
use scalar::{DType, Scalar};
use smallvec::SmallVec;

use crate::emit::emit;
use crate::infer::Signature;
use crate::op::{Composite, Op};
use crate::param::Param;
use crate::random::Generator;
use crate::site::Site;
use crate::tensor::{Args, Kind, Node, Tensor};

/// One step; arguments are (step, result) pairs of earlier steps.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Value of a leaf.
    Leaf(u32),
    /// A 0-d number.
    Const(DType),
    /// An op.
    Op(Arc<Signature>, SmallVec<[(u32, u32); 3]>),
}

impl PartialEq for Step {
    fn eq(&self, other: &Step) -> bool {
        match (self, other) {
            (Step::Leaf(a), Step::Leaf(b)) => a == b,
            (Step::Const(a), Step::Const(b)) => a == b,
            (Step::Op(a, x), Step::Op(b, y)) => x == y && same_signature(a, b),
            _ => false,
        }
    }
}

fn same_signature(a: &Arc<Signature>, b: &Arc<Signature>) -> bool {
    Arc::ptr_eq(a, b) || a == b
}

/// What compiled code depends on about a leaf.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    signature: Arc<Signature>,
    /// Identity of a parameter whose value the code may depend on.
    pub(crate) frozen: Option<u64>,
}

impl Leaf {
    pub(crate) fn ty(&self) -> &TensorType {
        &self.signature.results[0].ty
    }
}

impl PartialEq for Leaf {
    fn eq(&self, other: &Leaf) -> bool {
        self.frozen == other.frozen && same_signature(&self.signature, &other.signature)
    }
}

/// The steps, up to the values of leaves and numbers and the places of ops.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Program {
    pub(crate) steps: Vec<Step>,
    pub(crate) leaves: Vec<Leaf>,
    /// (step, result) pairs.
    pub(crate) outputs: Vec<(u32, u32)>,
}

/// Where a leaf's value comes from when the program runs.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Data(HostTensor),
    Param(Param),
    Key(Generator),
    /// An argument of a traced function.
    Argument(usize),
    /// A number that varies, by its position among the program's numbers.
    Number(usize),
}

impl Source {
    /// The value now; arguments and numbers have none of their own.
    pub(crate) fn value(&self) -> Option<HostTensor> {
        match self {
            Source::Data(data) => Some(data.clone()),
            Source::Param(param) => Some(param.data()),
            Source::Key(generator) => Some(HostTensor::from_i64s(DType::I64, &[], &[generator.next_key()])),
            Source::Argument(_) | Source::Number(_) => None,
        }
    }
    /// Name of the graph input.
    fn name(&self, slot: usize) -> String {
        match self {
            Source::Param(param) => param.name().to_owned(),
            Source::Key(_) => "random_key".to_owned(),
            Source::Number(k) => format!("number{k}"),
            Source::Data(_) | Source::Argument(_) => format!("x{slot}"),
        }
    }
    /// Parameters and generators are read once per run, however often they were recorded.
    fn identity(&self) -> Option<(u8, u64)> {
        match self {
            Source::Param(param) => Some((0, param.id())),
            Source::Key(generator) => Some((1, generator.id())),
            Source::Argument(slot) => Some((2, *slot as u64)),
            Source::Data(_) | Source::Number(_) => None,
        }
    }
}

/// A program with what it leaves out.
#[derive(Default)]
pub(crate) struct Recording {
    pub(crate) program: Program,
    /// One per leaf.
    pub(crate) sources: Vec<Source>,
    /// One per number, in step order.
    pub(crate) numbers: Vec<Scalar>,
    /// One per step; keeps the nodes alive.
    pub(crate) nodes: Vec<Tensor>,
    /// Reads of each step by other steps.
    reads: Vec<u32>,
    /// Position of each result that has one, by node and index.
    known: HashMap<(usize, usize), (u32, u32)>,
    slots: HashMap<(u8, u64), u32>,
    hash: StableHasher,
}

/// A node whose operands are being visited.
struct Frame {
    tensor: Tensor,
    args: Args,
    next: usize,
}

fn key(tensor: &Tensor) -> (usize, usize) {
    (Arc::as_ptr(&tensor.node) as usize, tensor.index)
}

impl Recording {
    /// Everything that the roots need, operands first, without recursion. `freeze` lets the code depend on parameters.
    pub(crate) fn of(roots: &[Tensor], freeze: bool) -> Recording {
        let mut recording = Recording::default();
        for root in roots {
            recording.visit(root, freeze);
        }
        for root in roots {
            recording.output(recording.known[&key(root)]);
        }
        recording
    }

    /// Hash of the program.
    pub(crate) fn hash(&self) -> u64 {
        self.hash.finish()
    }

    fn output(&mut self, (step, result): (u32, u32)) {
        self.hash.write_u64(u64::from(step) << 32 | u64::from(result));
        self.program.outputs.push((step, result));
    }

    fn visit(&mut self, root: &Tensor, freeze: bool) {
        let mut frames: Vec<Frame> = Vec::new();
        let mut next = Some(root.clone());
        loop {
            if let Some(tensor) = next.take()
                && !self.known.contains_key(&key(&tensor))
            {
                if is_op(&tensor.node) {
                    let args = tensor.node.args.lock().expect("no panic under the lock").clone();
                    frames.push(Frame { tensor, args, next: 0 });
                } else {
                    let step = self.leaf(&tensor, freeze);
                    self.known.insert(key(&tensor), (self.program.steps.len() as u32, 0));
                    self.push(tensor, step);
                }
            }
            let Some(top) = frames.last_mut() else { return };
            if let Some(arg) = top.args.get(top.next) {
                top.next += 1;
                next = Some(arg.clone());
            } else if let Some(Frame { tensor, args, .. }) = frames.pop() {
                let step = self.op(&tensor, &args);
                let (node, at) = (key(&tensor).0, self.program.steps.len() as u32);
                self.known.extend((0..tensor.node.data.len()).map(|result| ((node, result), (at, result as u32))));
                self.push(tensor, step);
            }
        }
    }

    fn push(&mut self, tensor: Tensor, step: Step) {
        self.program.steps.push(step);
        self.reads.push(0);
        self.nodes.push(tensor);
    }

    fn op(&mut self, tensor: &Tensor, args: &[Tensor]) -> Step {
        let args: SmallVec<[(u32, u32); 3]> = args.iter().map(|a| self.known[&key(a)]).collect();
        let signature = tensor.node.signature();
        self.hash.write_u64(signature.hash);
        for &(step, result) in &args {
            self.reads[step as usize] += 1;
            self.hash.write_u64(u64::from(step) << 32 | u64::from(result));
        }
        Step::Op(signature.clone(), args)
    }

    fn leaf(&mut self, tensor: &Tensor, freeze: bool) -> Step {
        let (source, frozen) = match &tensor.node.kind {
            Kind::Const(value) => {
                self.hash.write_u64(value.dtype() as u64);
                self.numbers.push(*value);
                return Step::Const(value.dtype());
            }
            Kind::Param(param) => (Source::Param(param.clone()), (freeze && param.is_frozen()).then(|| param.id())),
            Kind::Key(generator) => (Source::Key(generator.clone()), None),
            Kind::Input(slot) => (Source::Argument(*slot), None),
            _ => {
                let data = tensor.node.data[tensor.index].get();
                (Source::Data(data.expect("a node without operands has data").clone()), None)
            }
        };
        let identity = source.identity();
        let known = identity.and_then(|id| self.slots.get(&id).copied());
        let slot = known.unwrap_or_else(|| {
            let signature = tensor.leaf_signature();
            self.hash.write_u64(signature.hash ^ frozen.map_or(0, |id| id << 1 | 1));
            self.sources.push(source);
            self.program.leaves.push(Leaf { signature, frozen });
            self.sources.len() as u32 - 1
        });
        if let Some(id) = identity {
            self.slots.insert(id, slot);
        }
        self.hash.write_u32(slot);
        Step::Leaf(slot)
    }

    /// Adds every step whose value someone outside still holds to the outputs, so that it is not computed again.
    pub(crate) fn keep_held(&mut self) {
        for i in 0..self.nodes.len() {
            let node = &self.nodes[i].node;
            if Arc::strong_count(node) <= self.reads[i] as usize + 1 || !is_op(node) {
                continue;
            }
            for result in 0..node.data.len() as u32 {
                if !self.program.outputs.contains(&(i as u32, result)) {
                    self.output((i as u32, result));
                }
            }
        }
    }

    /// The graph: arguments first in slot order, then the other leaves. Also the source of each input slot.
    ///
    /// Numbers that `vary` are inputs, the others constants.
    pub(crate) fn graph(
        &self,
        name: &str,
        arguments: &[(String, TensorType)],
        vary: &[bool],
    ) -> Result<(graph::Graph, Vec<Source>)> {
        let mut b = Builder::new(name);
        for var in self.program.leaves.iter().flat_map(|l| &l.ty().shape).flat_map(|n| n.vars()) {
            b.facts_mut().set_min(var, 1);
        }
        for var in arguments.iter().flat_map(|(_, ty)| &ty.shape).flat_map(|n| n.vars()) {
            b.facts_mut().set_min(var, 1);
        }
        let mut slots: Vec<Source> = (0..arguments.len()).map(Source::Argument).collect();
        let mut inputs = Vec::new();
        for (name, ty) in arguments {
            inputs.push(b.input(name, ty.dtype, &ty.shape, false)?);
        }
        let mut leaves = Vec::new();
        for (source, leaf) in self.sources.iter().zip(&self.program.leaves) {
            leaves.push(match source {
                Source::Argument(slot) => inputs[*slot],
                _ => {
                    let name = unique(&b, source.name(slots.len()));
                    slots.push(source.clone());
                    b.input(name, leaf.ty().dtype, &leaf.ty().shape, leaf.frozen.is_some())?
                }
            });
        }
        let mut numbers = Vec::new();
        for (k, number) in self.numbers.iter().enumerate() {
            numbers.push(if vary.get(k) == Some(&true) {
                slots.push(Source::Number(k));
                let name = unique(&b, Source::Number(k).name(k));
                b.input(name, number.dtype(), scalar::Shape::new(), false)?
            } else {
                b.constant(*number)?
            });
        }
        let values = self.emit_steps(&mut b, &leaves, &numbers)?;
        for (k, &(step, result)) in self.program.outputs.iter().enumerate() {
            b.output(format!("out{k}"), values[step as usize][result as usize])?;
        }
        Ok((b.finish(), slots))
    }

    fn emit_steps(&self, b: &mut Builder, leaves: &[NodeId], numbers: &[NodeId]) -> Result<Vec<SmallVec<[NodeId; 1]>>> {
        let mut values: Vec<SmallVec<[NodeId; 1]>> = Vec::with_capacity(self.program.steps.len());
        let mut origins: HashMap<u64, OriginId> = HashMap::default();
        let mut stream = 0;
        let mut numbers = numbers.iter();
        for (step, site) in self.program.steps.iter().zip(self.nodes.iter().map(|t| &t.node.site)) {
            values.push(match step {
                Step::Leaf(leaf) => SmallVec::from_elem(leaves[*leaf as usize], 1),
                Step::Const(_) => SmallVec::from_elem(*numbers.next().expect("a node per number"), 1),
                Step::Op(signature, args) => {
                    let op = signature.op.as_ref().expect("steps with operands have an op");
                    let args: SmallVec<[NodeId; 3]> = args.iter().map(|&(s, r)| values[s as usize][r as usize]).collect();
                    if matches!(op, Op::Compose(Composite::Dropout(_))) {
                        stream += 1;
                    }
                    in_origin(b, site, &mut origins, |b| emit(b, op, &args, stream))?
                }
            });
        }
        Ok(values)
    }
}

/// Whether the node has to run: an op without all of its results.
fn is_op(node: &Node) -> bool {
    matches!(node.kind, Kind::Op) && !node.is_done()
}

fn unique(b: &Builder, name: String) -> String {
    let taken = |n: &str| b.graph().inputs.iter().any(|i| i.name == n);
    let mut candidates = std::iter::once(name.clone()).chain((1..).map(|k| format!("{name}.{k}")));
    candidates.find(|n| !taken(n)).unwrap_or(name)
}

/// Emits with the origin of a user op; nodes of one call share one origin, also when they are not neighbours.
fn in_origin<R>(
    b: &mut Builder,
    site: &Site,
    origins: &mut HashMap<u64, OriginId>,
    f: impl FnOnce(&mut Builder) -> Result<R>,
) -> Result<R> {
    if let Some(&origin) = origins.get(&site.call) {
        b.set_origin(origin)?;
        let result = f(b);
        b.set_origin(OriginId(0))?;
        return result;
    }
    let before = b.graph().origins.len();
    let result = b.with_origin(site.op, format!("{}:{}", site.at.file(), site.at.line()), f);
    if b.graph().origins.len() > before {
        origins.insert(site.call, OriginId(before as u32));
    }
    result
}
