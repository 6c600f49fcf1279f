//! What a rule may look at, and how it makes values.

use std::collections::BTreeMap;

use base::{Error, Result};
use graph::{Builder, Graph, Node, NodeId, Op, OriginId, Type, View};
use scalar::{DType, Shape, Sym};

use super::{Budget, all_rules};

/// Most applications on top of each other for one node; rules terminate, and this bounds a chain of them.
const MAX_DEPTH: u32 = 64;

/// The graph under construction.
pub(super) struct Cx<'a> {
    b: Builder,
    /// How often the original graph uses what became a value.
    uses: BTreeMap<NodeId, u32>,
    pub(super) budget: &'a mut Budget,
    depth: u32,
}

impl<'a> Cx<'a> {
    /// Starts the rewrite of a graph.
    pub(super) fn new(graph: &Graph, budget: &'a mut Budget) -> Cx<'a> {
        Cx { b: Builder::rewrite(graph), uses: BTreeMap::new(), budget, depth: 0 }
    }
    /// Origin of the values made from now on.
    pub(super) fn set_origin(&mut self, origin: OriginId) -> Result<()> {
        self.b.set_origin(origin)
    }
    /// Notes that a value stands for one that the original graph uses so often.
    pub(super) fn count_uses(&mut self, id: NodeId, uses: u32) {
        *self.uses.entry(id).or_default() += uses;
    }
    /// Whether the original graph uses a value once, as far as is known.
    pub(super) fn is_used_once(&self, id: NodeId) -> bool {
        self.uses.get(&id) == Some(&1)
    }
    /// Ends the rewrite with the outputs of `graph`.
    pub(super) fn finish(mut self, graph: &Graph, value: impl Fn(NodeId) -> Option<NodeId>) -> Result<Graph> {
        for output in &graph.outputs {
            let id = value(output.value).ok_or_else(|| Error::internal(format!("output {:?} was not rebuilt", output.name)))?;
            self.b.output(&output.name, id)?;
        }
        Ok(self.b.finish())
    }

    /// The node.
    pub(super) fn node(&self, id: NodeId) -> &Node {
        self.b.graph().node(id)
    }
    /// Its op.
    pub(super) fn op(&self, id: NodeId) -> &Op {
        &self.node(id).op
    }
    /// Its operands.
    pub(super) fn args(&self, id: NodeId) -> &[NodeId] {
        &self.node(id).args
    }
    /// Its shape; for nodes with one result.
    pub(super) fn shape(&self, id: NodeId) -> &Shape {
        self.b.shape(id)
    }
    /// Its element type; for nodes with one result.
    pub(super) fn dtype(&self, id: NodeId) -> DType {
        self.b.dtype(id)
    }

    /// Whether two extents are proved equal.
    pub(super) fn equal(&self, a: &Sym, b: &Sym) -> bool {
        a == b || self.b.facts().proves_eq(a, b)
    }
    /// Whether two shapes are proved equal.
    pub(super) fn same_shape(&self, a: &Shape, b: &Shape) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.equal(a, b))
    }
    /// Whether `a ≥ least` is proved.
    pub(super) fn at_least(&self, a: &Sym, least: i64) -> bool {
        self.b.facts().proves_ge(a, &Sym::from(least))
    }
    /// Whether `a ≤ b` is proved.
    pub(super) fn at_most(&self, a: &Sym, b: &Sym) -> bool {
        self.b.facts().proves_ge(b, a)
    }

    /// A value in simplest form: that of the first rule that applies, else the node itself. `None` when the operands do not
    /// suit the op; a rule that meets this does not apply.
    pub(super) fn make(&mut self, op: Op, args: &[NodeId]) -> Option<NodeId> {
        match self.rewritten(&op, args) {
            Some(id) => Some(id),
            None => self.b.add(op, args).ok(),
        }
    }
    /// A view in simplest form.
    pub(super) fn view(&mut self, view: View, x: NodeId) -> Option<NodeId> {
        self.make(Op::View(view), &[x])
    }
    /// The shape of a view of a value.
    pub(super) fn view_shape(&mut self, view: &View, x: NodeId) -> Option<Shape> {
        let id = self.b.add(Op::View(view.clone()), &[x]).ok()?;
        Some(self.shape(id).clone())
    }

    fn rewritten(&mut self, op: &Op, args: &[NodeId]) -> Option<NodeId> {
        if self.depth >= MAX_DEPTH
            || args.iter().any(|&a| matches!(self.node(a).ty, Type::Tuple(_))) && !matches!(op, Op::Result(_))
        {
            return None;
        }
        for rule in all_rules() {
            if self.budget.spent() {
                return None;
            }
            self.depth += 1;
            let found = (rule.apply)(self, op, args);
            self.depth -= 1;
            if let Some(id) = found {
                if self.budget.spent() {
                    return None;
                }
                self.budget.count(rule.name);
                return Some(id);
            }
        }
        None
    }

    /// The outputs of a body graph on the given operands.
    pub(super) fn inline(&mut self, body: &Graph, operands: &[NodeId]) -> Option<Vec<NodeId>> {
        let mut new: Vec<NodeId> = Vec::with_capacity(body.nodes.len());
        for node in &body.nodes {
            let id = match node.op {
                Op::Input(slot) => *operands.get(slot as usize)?,
                _ => {
                    let args: Vec<NodeId> = node.args.iter().map(|a| new[a.index()]).collect();
                    self.make(node.op.clone(), &args)?
                }
            };
            new.push(id);
        }
        Some(body.outputs.iter().map(|o| new[o.value.index()]).collect())
    }
}
