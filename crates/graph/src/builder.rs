//! The only way to make graphs: infers types, interns nodes, records origins and guards. Never rewrites.

mod ops;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use base::{Error, HashMap, HashSet, Result, stable_hash};
use scalar::{DType, Facts, Shape, Sym};

use crate::infer::{Infer, Need};
use crate::{Graph, Guard, InputDecl, Node, NodeId, Op, Origin, OriginId, Output, Region, TensorType, Type, call, text};

/// Builds a [`Graph`] node by node.
///
/// A node with the operation and operands of an earlier one is that earlier node, whatever its origin; calls with effects
/// are never shared. Every method that makes a node fails with an error that names the op, the operand types and the origin.
#[derive(Clone, Debug)]
pub struct Builder {
    graph: Graph,
    index: HashMap<u64, Vec<NodeId>>,
    input_names: HashSet<String>,
    output_names: HashSet<String>,
    scope: Vec<Origin>,
    scope_id: Option<OriginId>,
    fallback: OriginId,
}

impl Builder {
    /// An empty function.
    pub fn new(name: impl Into<String>) -> Builder {
        Self::from_graph(Graph { name: name.into(), ..Graph::default() })
    }

    /// Continues a graph: its nodes take part in interning.
    pub fn from_graph(mut graph: Graph) -> Builder {
        if graph.origins.is_empty() {
            graph.origins.push(Origin::default());
        }
        let mut index: HashMap<u64, Vec<NodeId>> = HashMap::default();
        for id in graph.ids() {
            let node = graph.node(id);
            index.entry(stable_hash(&(&node.op, &node.args[..]))).or_default().push(id);
        }
        let input_names = graph.inputs.iter().map(|i| i.name.clone()).collect();
        let output_names = graph.outputs.iter().map(|o| o.name.clone()).collect();
        Builder { graph, index, input_names, output_names, scope: Vec::new(), scope_id: None, fallback: OriginId(0) }
    }

    /// Starts a rewrite of a graph: same name, inputs, facts, guards and origins, and no nodes or outputs yet.
    pub fn rewrite(graph: &Graph) -> Builder {
        Self::from_graph(Graph {
            name: graph.name.clone(),
            inputs: graph.inputs.clone(),
            facts: graph.facts.clone(),
            guards: graph.guards.clone(),
            origins: graph.origins.clone(),
            ..Graph::default()
        })
    }

    /// The graph so far.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }
    /// Ends building.
    pub fn finish(self) -> Graph {
        self.graph
    }
    /// What is known about the dimensions.
    pub fn facts(&self) -> &Facts {
        &self.graph.facts
    }
    /// To state more about the dimensions.
    pub fn facts_mut(&mut self) -> &mut Facts {
        &mut self.graph.facts
    }
    /// Type of a node.
    pub fn ty(&self, id: NodeId) -> &Type {
        &self.graph.node(id).ty
    }
    /// Shape of a single-result node; panics on several results, as [`Graph::shape`].
    pub fn shape(&self, id: NodeId) -> &Shape {
        self.graph.shape(id)
    }
    /// Element type of a single-result node; panics on several results, as [`Graph::dtype`].
    pub fn dtype(&self, id: NodeId) -> DType {
        self.graph.dtype(id)
    }

    /// Opens an origin scope. The outermost open scope is the user op of the nodes made inside; opening one makes a new
    /// [`OriginId`] even when its text was used before.
    pub fn push_origin(&mut self, origin: Origin) {
        self.scope.push(origin);
    }
    /// Closes the innermost origin scope; nothing happens when none is open.
    pub fn pop_origin(&mut self) {
        self.scope.pop();
        if self.scope.is_empty() {
            self.scope_id = None;
        }
    }
    /// Runs `f` inside an origin scope.
    pub fn with_origin<R>(&mut self, op: impl Into<String>, source: impl Into<String>, f: impl FnOnce(&mut Builder) -> R) -> R {
        self.push_origin(Origin { op: op.into(), source: source.into() });
        let result = f(self);
        self.pop_origin();
        result
    }
    /// Origin of the nodes made while no scope is open: an id of this graph's table, for rewrites that keep origins.
    ///
    /// # Errors
    /// An id outside the table.
    pub fn set_origin(&mut self, id: OriginId) -> Result<()> {
        if id.0 as usize >= self.graph.origins.len() {
            return Err(Error::invalid(format!("origin {} is not in the table of {}", id.0, self.graph.origins.len())));
        }
        self.fallback = id;
        Ok(())
    }

    /// Declares an input and makes its node.
    ///
    /// # Errors
    /// A name that is taken.
    pub fn input(
        &mut self,
        name: impl Into<String>,
        dtype: DType,
        shape: impl IntoIterator<Item: Into<Sym>>,
        frozen: bool,
    ) -> Result<NodeId> {
        let ty = TensorType { dtype, shape: shape.into_iter().map(Into::into).collect() };
        self.input_decl(InputDecl { name: name.into(), ty, frozen, donated: false })
    }

    /// Declares an input and makes its node.
    ///
    /// # Errors
    /// A name that is taken.
    pub fn input_decl(&mut self, decl: InputDecl) -> Result<NodeId> {
        let slot = self.declare(decl)?;
        self.add(Op::Input(slot), &[])
    }

    /// Declares an input without making its node.
    pub(crate) fn declare(&mut self, decl: InputDecl) -> Result<u32> {
        let slot = u32::try_from(self.graph.inputs.len()).map_err(|_| Error::unsupported("too many inputs"))?;
        if !self.input_names.insert(decl.name.clone()) {
            return Err(Error::invalid(format!("input {:?} is declared twice", decl.name)));
        }
        self.graph.inputs.push(decl);
        Ok(slot)
    }

    /// The node of a declared input.
    ///
    /// # Errors
    /// A slot that is not declared.
    pub fn input_slot(&mut self, slot: u32) -> Result<NodeId> {
        self.add(Op::Input(slot), &[])
    }

    /// Lets an output take the input's buffer.
    ///
    /// # Errors
    /// A slot that is not declared.
    pub fn set_donated(&mut self, slot: u32) -> Result<()> {
        let decl =
            self.graph.inputs.get_mut(slot as usize).ok_or_else(|| Error::invalid(format!("there is no input slot {slot}")))?;
        decl.donated = true;
        Ok(())
    }

    /// Names a result of the function.
    ///
    /// # Errors
    /// A name that is taken, or a node with several results.
    pub fn output(&mut self, name: impl Into<String>, id: NodeId) -> Result<()> {
        let name = name.into();
        match self.graph.nodes.get(id.index()).map(|n| &n.ty) {
            None => return Err(Error::invalid(format!("output {name:?}: there is no node {id:?}"))),
            Some(Type::Tuple(parts)) => {
                return Err(Error::invalid(format!("output {name:?}: {id:?} has {} results; read one with result", parts.len())));
            }
            Some(Type::Tensor(_)) => {}
        }
        if !self.output_names.insert(name.clone()) {
            return Err(Error::invalid(format!("output {name:?} is declared twice")));
        }
        self.graph.outputs.push(Output { name, value: id });
        Ok(())
    }

    /// Makes or finds the node of any op; the other methods are spellings of this one.
    ///
    /// # Errors
    /// Operands that the op does not take.
    pub fn add(&mut self, op: Op, args: &[NodeId]) -> Result<NodeId> {
        let key = stable_hash(&(&op, args));
        let effects = has_effects(&op);
        if !effects && let Some(id) = self.find(key, &op, args) {
            return Ok(id);
        }
        let ty = self.infer(&op, args)?;
        self.push(key, Node { op, args: args.iter().copied().collect(), ty, origin: OriginId(0) })
    }

    /// Type of the node that the op and operands would make; what it needs is guarded from here on.
    pub(crate) fn infer(&mut self, op: &Op, args: &[NodeId]) -> Result<Type> {
        if let Some(bad) = args.iter().find(|a| a.index() >= self.graph.nodes.len()) {
            return Err(Error::invalid(format!("{}: there is no node {bad:?}", text::op_name(op))));
        }
        let types: Vec<&Type> = args.iter().map(|&a| self.ty(a)).collect();
        let mut infer = Infer::new(&self.graph.facts, &self.graph.inputs);
        let ty = infer.op(op, &types).map_err(|why| self.error(op, &types, &why))?;
        let needs = infer.needs;
        self.guard(needs, op);
        Ok(ty)
    }

    /// Makes a node of an inferred type even if an equal one exists.
    pub(crate) fn append(&mut self, op: Op, args: &[NodeId], ty: Type) -> Result<NodeId> {
        let key = stable_hash(&(&op, args));
        self.push(key, Node { op, args: args.iter().copied().collect(), ty, origin: OriginId(0) })
    }

    /// Fills an entry of the origin table, and empty ones before it.
    pub(crate) fn define_origin(&mut self, id: OriginId, origin: Origin) -> Result<()> {
        let table = &mut self.graph.origins;
        if id.0 as usize >= table.len() {
            table.resize(id.0 as usize + 1, Origin::default());
        }
        let entry = &mut table[id.0 as usize];
        if id == OriginId(0) || *entry != Origin::default() && *entry != origin {
            return Err(Error::invalid(format!("origin {} is {:?} already", id.0, entry.to_string())));
        }
        *entry = origin;
        Ok(())
    }

    /// Adds a guard as it is.
    pub(crate) fn push_guard(&mut self, guard: Guard) {
        self.graph.guards.push(guard);
    }

    fn find(&self, key: u64, op: &Op, args: &[NodeId]) -> Option<NodeId> {
        let same = |id: &&NodeId| {
            let node = self.graph.node(**id);
            node.op == *op && node.args[..] == *args
        };
        self.index.get(&key)?.iter().find(same).copied()
    }

    fn push(&mut self, key: u64, node: Node) -> Result<NodeId> {
        let id = u32::try_from(self.graph.nodes.len()).map_err(|_| Error::unsupported("a graph has at most 2^32 nodes"))?;
        let origin = self.current_origin();
        self.graph.nodes.push(Node { origin, ..node });
        self.index.entry(key).or_default().push(NodeId(id));
        Ok(NodeId(id))
    }

    fn current_origin(&mut self) -> OriginId {
        let Some(outermost) = self.scope.first() else { return self.fallback };
        *self.scope_id.get_or_insert_with(|| {
            self.graph.origins.push(outermost.clone());
            OriginId(self.graph.origins.len() as u32 - 1)
        })
    }

    /// Turns unproved relations into guards.
    fn guard(&mut self, needs: Vec<Need>, op: &Op) {
        for need in needs {
            if self.graph.facts.proves_eq(&need.left, &need.right) || has_guard(&self.graph.guards, &need) {
                continue;
            }
            let origin = self.origin_text();
            let who = if origin.is_empty() { text::op_name(op) } else { origin };
            if need.equality {
                self.graph.facts.assume_equal(&need.left, &need.right);
            }
            self.graph.guards.push(Guard { left: need.left, right: need.right, reason: format!("{who}: {}", need.what) });
        }
    }

    fn origin_text(&self) -> String {
        self.scope.first().unwrap_or(&self.graph.origins[self.fallback.0 as usize]).to_string()
    }

    fn error(&self, op: &Op, args: &[&Type], why: &str) -> Error {
        let types: Vec<String> = args.iter().map(|t| t.to_string()).collect();
        let error = Error::invalid(format!("{}({}): {why}", text::op_name(op), types.join(", ")));
        let origin = self.origin_text();
        if origin.is_empty() { error } else { error.context(origin) }
    }
}

/// Whether a guard states the need.
pub(crate) fn has_guard(guards: &[Guard], need: &Need) -> bool {
    guards.iter().any(|g| g.left == need.left && g.right == need.right || g.left == need.right && g.right == need.left)
}

/// Whether a node of this op must not be merged with an equal one.
fn has_effects(op: &Op) -> bool {
    let inside = |g: &Graph| g.nodes.iter().any(|n| has_effects(&n.op));
    match op {
        Op::Call(name, _) => call::lookup(name).is_some_and(|d| d.effects),
        Op::Region(Region::If { then, other }) => inside(then) || inside(other),
        Op::Region(Region::Loop { body, .. }) => inside(body),
        _ => false,
    }
}

/// Letters `a`–`z`, `A`–`Z` in order, for canonical contraction labels.
fn letter(i: usize) -> Option<u8> {
    (b'a'..=b'z').chain(b'A'..=b'Z').nth(i)
}

/// Distinct members of a label list in order of first occurrence.
fn in_order(labels: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut seen = BTreeSet::new();
    labels.filter(|l| seen.insert(*l)).collect()
}
