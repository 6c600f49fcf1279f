//! What a set of lazy tensors has to run: a straight list of steps, which is also the key of compiled code.

use std::sync::Arc;

use base::{HashMap, Result};
use graph::{Builder, HostTensor, NodeId, OriginId, TensorType};
use scalar::Scalar;
use smallvec::SmallVec;

use crate::emit::emit;
use crate::op::{Composite, Op};
use crate::param::Param;
use crate::random::Generator;
use crate::site::Site;
use crate::tensor::{Kind, Node, Tensor};

/// One step; arguments are (step, result) pairs of earlier steps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// Value of a leaf.
    Leaf(u32),
    /// A 0-d number.
    Const(Scalar),
    /// An op.
    Op(Arc<Op>, SmallVec<[(u32, u32); 3]>),
}

/// What compiled code depends on about a leaf.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LeafType {
    pub(crate) ty: TensorType,
    /// Identity of a parameter whose value the code may depend on.
    pub(crate) frozen: Option<u64>,
}

/// The steps, up to the values of leaves and the places of ops.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Program {
    pub(crate) steps: Vec<Step>,
    pub(crate) leaves: Vec<LeafType>,
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
}

impl Source {
    /// The value now; arguments have none.
    pub(crate) fn value(&self) -> Option<HostTensor> {
        match self {
            Source::Data(data) => Some(data.clone()),
            Source::Param(param) => Some(param.data()),
            Source::Key(generator) => Some(HostTensor::from_i64s(scalar::DType::I64, &[], &[generator.next_key()])),
            Source::Argument(_) => None,
        }
    }
    /// Name of the graph input.
    fn name(&self, slot: usize) -> String {
        match self {
            Source::Param(param) => param.name().to_owned(),
            Source::Key(_) => "random_key".to_owned(),
            Source::Data(_) | Source::Argument(_) => format!("x{slot}"),
        }
    }
}

/// A program with what it leaves out.
#[derive(Default)]
pub(crate) struct Recording {
    pub(crate) program: Program,
    /// One per leaf.
    pub(crate) sources: Vec<Source>,
    /// One per step.
    pub(crate) sites: Vec<Site>,
    /// One per step; keeps the nodes alive.
    pub(crate) nodes: Vec<Tensor>,
    /// Reads of each step by other steps.
    reads: Vec<u32>,
    known: HashMap<usize, u32>,
}

fn address(tensor: &Tensor) -> usize {
    Arc::as_ptr(&tensor.node) as usize
}

impl Recording {
    /// Everything that the roots need, operands first, without recursion. `freeze` lets the code depend on parameters.
    pub(crate) fn of(roots: &[Tensor], freeze: bool) -> Recording {
        let mut recording = Recording::default();
        for root in roots {
            recording.visit(root, freeze);
        }
        let steps = roots.iter().map(|r| (recording.known[&address(r)], r.index as u32));
        recording.program.outputs = steps.collect();
        recording
    }

    fn visit(&mut self, root: &Tensor, freeze: bool) {
        let mut stack = vec![root.clone()];
        while let Some(top) = stack.last() {
            if self.known.contains_key(&address(top)) {
                stack.pop();
                continue;
            }
            let args = if is_op(&top.node) { top.node.args.lock().expect("no panic under the lock").clone() } else { Vec::new() };
            let before = stack.len();
            stack.extend(args.iter().filter(|a| !self.known.contains_key(&address(a))).cloned());
            if stack.len() == before
                && let Some(ready) = stack.pop()
            {
                self.push(ready, &args, freeze);
            }
        }
    }

    fn push(&mut self, tensor: Tensor, args: &[Tensor], freeze: bool) {
        let args: SmallVec<[(u32, u32); 3]> = args.iter().map(|a| (self.known[&address(a)], a.index as u32)).collect();
        for &(step, _) in &args {
            self.reads[step as usize] += 1;
        }
        let step = match &tensor.node.kind {
            Kind::Op(op) if is_op(&tensor.node) => Step::Op(op.clone(), args),
            Kind::Const(value) => Step::Const(*value),
            _ => self.leaf(&tensor, freeze),
        };
        self.known.insert(address(&tensor), self.program.steps.len() as u32);
        self.program.steps.push(step);
        self.sites.push(tensor.node.site);
        self.reads.push(0);
        self.nodes.push(tensor);
    }

    fn leaf(&mut self, tensor: &Tensor, freeze: bool) -> Step {
        let (source, frozen) = match &tensor.node.kind {
            Kind::Param(param) => (Source::Param(param.clone()), (freeze && param.is_frozen()).then(|| param.id())),
            Kind::Key(generator) => (Source::Key(generator.clone()), None),
            Kind::Input(slot) => (Source::Argument(*slot), None),
            _ => (Source::Data(tensor.node.data[0].get().expect("a node without operands has data").clone()), None),
        };
        let slot = self.sources.iter().position(|s| same_source(s, &source)).unwrap_or_else(|| {
            self.sources.push(source);
            self.program.leaves.push(LeafType { ty: tensor.node.types[0].clone(), frozen });
            self.sources.len() - 1
        });
        Step::Leaf(slot as u32)
    }

    /// Adds every step whose value someone outside still holds to the outputs, so that it is not computed again.
    pub(crate) fn keep_held(&mut self) {
        for (i, tensor) in self.nodes.iter().enumerate() {
            let held = Arc::strong_count(&tensor.node) > self.reads[i] as usize + 1;
            if !held || !is_op(&tensor.node) {
                continue;
            }
            for result in 0..tensor.node.types.len() {
                let output = (i as u32, result as u32);
                if !self.program.outputs.contains(&output) {
                    self.program.outputs.push(output);
                }
            }
        }
    }

    /// The graph: arguments first in slot order, then the other leaves. Also the source of each input slot.
    pub(crate) fn graph(&self, name: &str, arguments: &[(String, TensorType)]) -> Result<(graph::Graph, Vec<Source>)> {
        let mut b = Builder::new(name);
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
                    b.input(name, leaf.ty.dtype, &leaf.ty.shape, leaf.frozen.is_some())?
                }
            });
        }
        let values = self.emit_steps(&mut b, &leaves)?;
        for (k, &(step, result)) in self.program.outputs.iter().enumerate() {
            b.output(format!("out{k}"), values[step as usize][result as usize])?;
        }
        Ok((b.finish(), slots))
    }

    fn emit_steps(&self, b: &mut Builder, leaves: &[NodeId]) -> Result<Vec<SmallVec<[NodeId; 1]>>> {
        let mut values: Vec<SmallVec<[NodeId; 1]>> = Vec::with_capacity(self.program.steps.len());
        let mut origins: HashMap<u64, OriginId> = HashMap::default();
        let mut stream = 0;
        for (step, site) in self.program.steps.iter().zip(&self.sites) {
            values.push(match step {
                Step::Leaf(leaf) => SmallVec::from_elem(leaves[*leaf as usize], 1),
                Step::Const(value) => SmallVec::from_elem(b.constant(*value)?, 1),
                Step::Op(op, args) => {
                    let args: SmallVec<[NodeId; 3]> = args.iter().map(|&(s, r)| values[s as usize][r as usize]).collect();
                    if matches!(**op, Op::Compose(Composite::Dropout(_))) {
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
    matches!(node.kind, Kind::Op(_)) && !node.is_done()
}

/// Parameters and generators are read once per run, however often they were recorded.
fn same_source(a: &Source, b: &Source) -> bool {
    match (a, b) {
        (Source::Param(p), Source::Param(q)) => p.id() == q.id(),
        (Source::Key(g), Source::Key(h)) => g.same(h),
        (Source::Argument(i), Source::Argument(j)) => i == j,
        _ => false,
    }
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
