//! Checks every invariant of a graph.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use base::{Error, Result};
use scalar::{Sym, Var};

use crate::builder::has_guard;
use crate::infer::{Infer, provably_same};
use crate::text::{self, MAX_NESTING};
use crate::{At, Graph, Node, NodeId, Op, Origin, Region, Type, View};

/// Checks that operands precede their users, that types are those that inference gives, that every equality between extents
/// is proved or guarded, that dimensions are bound by inputs, and that slots, names, origins and outputs are sound; bodies
/// of regions included.
///
/// # Errors
/// The first broken invariant, with the node.
pub fn verify(graph: &Graph) -> Result<()> {
    function(graph, &BTreeSet::new(), 0)
}

/// Dimensions that a graph depends on: those of its types, ops and guards.
pub fn dims(graph: &Graph) -> BTreeSet<Var> {
    let types = graph.nodes.iter().flat_map(|n| match &n.ty {
        Type::Tensor(t) => std::slice::from_ref(t),
        Type::Tuple(parts) => parts,
    });
    let inputs = graph.inputs.iter().map(|i| &i.ty);
    let shapes = types.chain(inputs).flat_map(|t| &t.shape);
    let guards = graph.guards.iter().flat_map(|g| [&g.left, &g.right]);
    shapes.chain(graph.nodes.iter().flat_map(|n| symbols(&n.op))).chain(guards).flat_map(Sym::vars).collect()
}

fn function(graph: &Graph, outer: &BTreeSet<Var>, depth: usize) -> Result<()> {
    let check = || {
        if depth >= MAX_NESTING {
            return Err(Error::invalid(format!("bodies nest deeper than {MAX_NESTING}")));
        }
        let mut bound = outer.clone();
        if depth == 0 {
            bound.extend(graph.inputs.iter().flat_map(|i| &i.ty.shape).flat_map(Sym::vars));
        }
        tables(graph, &bound)?;
        let mut slots = BTreeSet::new();
        for id in graph.ids() {
            let node = graph.node(id);
            let place = || format!("{id:?} = {}", text::op_name(&node.op));
            check_node(graph, id, &mut slots, &bound).map_err(|why| Error::internal(why).context(place()))?;
            for body in bodies(&node.op) {
                function(body, &bound, depth + 1).map_err(|e| e.context(place()))?;
            }
        }
        outputs(graph)
    };
    check().map_err(|e| e.context(format!("func {}", graph.name)))
}

fn bodies(op: &Op) -> Vec<&Graph> {
    match op {
        Op::Region(Region::If { then, other }) => vec![then, other],
        Op::Region(Region::Loop { body, .. }) => vec![body],
        _ => Vec::new(),
    }
}

fn tables(graph: &Graph, bound: &BTreeSet<Var>) -> Result<()> {
    if graph.origins.first() != Some(&Origin::default()) {
        return Err(Error::internal("entry 0 of the origins is not the empty origin"));
    }
    unique(graph.inputs.iter().map(|i| &i.name), "input")?;
    for decl in &graph.inputs {
        decl.ty
            .shape
            .iter()
            .try_for_each(|s| known(s, bound))
            .map_err(|why| Error::invalid(format!("input {}: {why}", decl.name)))?;
    }
    for g in &graph.guards {
        [&g.left, &g.right]
            .into_iter()
            .try_for_each(|s| known(s, bound))
            .map_err(|why| Error::internal(format!("guard {} = {}: {why}", g.left, g.right)))?;
    }
    Ok(())
}

fn unique<'a>(names: impl Iterator<Item = &'a String>, what: &str) -> Result<()> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(Error::internal(format!("two {what}s have the name {name:?}")));
        }
    }
    Ok(())
}

fn outputs(graph: &Graph) -> Result<()> {
    unique(graph.outputs.iter().map(|o| &o.name), "output")?;
    for o in &graph.outputs {
        match graph.nodes.get(o.value.index()).map(|n| &n.ty) {
            Some(Type::Tensor(_)) => {}
            Some(Type::Tuple(_)) => return Err(Error::internal(format!("output {:?} has several results", o.name))),
            None => return Err(Error::internal(format!("output {:?} is node {:?}, which does not exist", o.name, o.value))),
        }
    }
    Ok(())
}

fn check_node(graph: &Graph, id: NodeId, slots: &mut BTreeSet<u32>, bound: &BTreeSet<Var>) -> Result<(), String> {
    let node = graph.node(id);
    if let Some(late) = node.args.iter().find(|&&a| a >= id) {
        return Err(format!("operand {late:?} does not precede its user"));
    }
    if node.origin.0 as usize >= graph.origins.len() {
        return Err(format!("origin {} is not in the table of {}", node.origin.0, graph.origins.len()));
    }
    if let Op::Input(slot) = node.op
        && !slots.insert(slot)
    {
        return Err(format!("input slot {slot} has two nodes"));
    }
    symbols(&node.op).into_iter().try_for_each(|s| known(s, bound))?;
    check_type(graph, node)
}

fn check_type(graph: &Graph, node: &Node) -> Result<(), String> {
    let types: Vec<&Type> = node.args.iter().map(|&a| &graph.node(a).ty).collect();
    let mut infer = Infer::new(&graph.facts, &graph.inputs);
    let ty = infer.op(&node.op, &types)?;
    if let Some(need) = infer.needs.iter().find(|need| !has_guard(&graph.guards, need)) {
        return Err(format!("{}: {} = {} is neither proved nor guarded", need.what, need.left, need.right));
    }
    if provably_same(&graph.facts, &node.ty, &ty) { Ok(()) } else { Err(format!("the type is {ty}, not {}", node.ty)) }
}

/// Symbolic integers of an op.
fn symbols(op: &Op) -> Vec<&Sym> {
    match op {
        Op::SymConst(s) | Op::Iota(s) | Op::Region(Region::Loop { trip: s, .. }) | Op::View(View::Window { size: s, .. }) => {
            vec![s]
        }
        Op::View(View::Reshape(shape) | View::Expand(shape)) => shape.iter().collect(),
        Op::View(View::Slice { start: a, len: b, .. } | View::Pad { lo: a, hi: b, .. }) => a.iter().chain(b).collect(),
        Op::Write(_, At::Slice { start, .. }) => start.iter().collect(),
        _ => Vec::new(),
    }
}

fn known(s: &Sym, bound: &BTreeSet<Var>) -> Result<(), String> {
    match s.vars().into_iter().find(|v| !bound.contains(v)) {
        Some(v) => Err(format!("dimension {v} is not bound by any input's shape")),
        None => Ok(()),
    }
}
