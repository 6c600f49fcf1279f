//! Positions of a group's outputs over one domain.
//!
//! One node, the anchor, gets an axis per dimension. Its position spreads along edges: down through pointwise ops,
//! reductions and one-to-one views (`pull`), up through the same (`push`); where a reader iterates over more than it
//! reads, it gets further axes, shared by extent with those that exist.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use base::Code;
use graph::{At, NodeId, Op, Type, View, WriteCombine};
use kernel::{AxisSet, Store};
use scalar::{DType, ScalarOp, Shape, Sym};

use crate::build::{Build, Refusal};
use crate::index::{pull, push};

type Places = BTreeMap<NodeId, Vec<Sym>>;

/// Positions of the group's outputs, in order.
pub(crate) fn place(b: &mut Build<'_>, users: &[Vec<NodeId>]) -> Result<Vec<Vec<Sym>>, Refusal> {
    let outputs = &b.group.outputs;
    if let [only] = outputs[..]
        && matches!(b.graph.node(only).op, Op::Write(..))
    {
        let src = b.graph.node(only).args[1];
        return Ok(vec![fresh(b, src)]);
    }
    let Some(anchor) = anchor(b) else {
        return Err(Refusal::new(Code::F14, "a group without outputs"));
    };
    let relevant = relevant(b);
    let at = fresh(b, anchor);
    let mut places = Places::from([(anchor, at)]);
    let mut queue = VecDeque::from([anchor]);
    while let Some(node) = queue.pop_front() {
        let at = places[&node].clone();
        let mut next = down(b, node, &at);
        for &user in users[node.index()].iter().filter(|u| relevant.contains(u)) {
            next.extend(up(b, node, user, &at).map(|at| (user, at)));
        }
        for (n, at) in next {
            if relevant.contains(&n) && !places.contains_key(&n) {
                places.insert(n, at);
                queue.push_back(n);
            }
        }
    }
    let placed = outputs.iter().map(|&o| output_place(b, o, anchor, &places)).collect();
    b.places = places;
    placed
}

/// Position of an output that the spreading may not have reached: that of an output of the same shape, or, beside a
/// reduction, axes found by extent (whether its rows are the reduction's is checked when it is evaluated).
fn output_place(b: &mut Build<'_>, output: NodeId, anchor: NodeId, places: &Places) -> Result<Vec<Sym>, Refusal> {
    if let Some(at) = places.get(&output) {
        return Ok(at.clone());
    }
    let shape = b.graph.shape(output);
    if let Some(twin) = b.group.outputs.iter().find(|o| places.contains_key(o) && b.graph.shape(**o) == shape) {
        return Ok(places[twin].clone());
    }
    if matches!(b.graph.node(anchor).op, Op::Reduce(..)) {
        return Ok(fresh(b, output));
    }
    let spaces: Vec<String> = b.group.outputs.iter().map(|&o| b.graph.tensor(o).to_string()).collect();
    Err(Refusal::new(Code::F03, format!("iteration spaces do not align: {}", spaces.join(" and "))))
}

fn shape_of<'g>(b: &Build<'g>, node: NodeId) -> &'g Shape {
    match &b.graph.node(node).ty {
        Type::Tensor(t) => &t.shape,
        Type::Tuple(ts) => &ts[0].shape,
    }
}

/// One axis per dimension of a node.
fn fresh(b: &mut Build<'_>, node: NodeId) -> Vec<Sym> {
    let shape = shape_of(b, node).clone();
    let mut used = AxisSet::default();
    shape.iter().map(|extent| b.axis(extent, &mut used)).collect()
}

/// The first reduction or scan, else the last output.
fn anchor(b: &Build<'_>) -> Option<NodeId> {
    let reduces = b.group.members.iter().find(|m| matches!(b.graph.node(**m).op, Op::Reduce(..) | Op::Scan(..)));
    reduces.or(b.group.outputs.last()).copied()
}

/// Nodes from which some output is computed, down to the values read from outside.
fn relevant(b: &Build<'_>) -> BTreeSet<NodeId> {
    let mut seen = BTreeSet::new();
    let mut stack: Vec<NodeId> = b.group.outputs.clone();
    while let Some(node) = stack.pop() {
        if seen.insert(node) && (b.is_member(node) || matches!(b.graph.node(node).op, Op::View(_))) {
            stack.extend(b.graph.node(node).args.iter());
        }
    }
    seen
}

/// Positions of operands that correspond to `node` at `at`.
fn down(b: &mut Build<'_>, node: NodeId, at: &[Sym]) -> Vec<(NodeId, Vec<Sym>)> {
    let n = b.graph.node(node);
    let same = |at: &[Sym]| n.args.iter().map(|&a| (a, at.to_vec())).collect();
    match &n.op {
        Op::View(View::Reshape(_)) if b.graph.shape(node).iter().any(Sym::is_zero) => Vec::new(),
        Op::View(view @ (View::Reshape(_) | View::Permute(_) | View::Flip(_) | View::Expand(_))) => {
            let x = n.args[0];
            vec![(x, pull(view, b.graph.shape(x), b.graph.shape(node), at, &b.facts).index)]
        }
        Op::Map(_) | Op::Materialize | Op::Scan(..) | Op::Result(_) if b.is_member(node) => same(at),
        Op::Gather(_) if b.is_member(node) => n.args[1..].iter().map(|&a| (a, at.to_vec())).collect(),
        Op::Reduce(_, axes) if b.is_member(node) => {
            let index = b.reduced_position(n.args[0], axes, at);
            n.args.iter().map(|&a| (a, index.clone())).collect()
        }
        _ => Vec::new(),
    }
}

/// Position of `user` that reads `node` at `at`.
fn up(b: &mut Build<'_>, node: NodeId, user: NodeId, at: &[Sym]) -> Option<Vec<Sym>> {
    let n = b.graph.node(user);
    match &n.op {
        Op::View(view) => {
            let (from, to) = (b.graph.shape(node), b.graph.shape(user));
            let mut used = b.free_of_all(at);
            let grown = matches!(view, View::Expand(_)).then(|| from.iter().zip(to).filter(|(f, t)| f.is_one() && !t.is_one()));
            let fresh: Vec<Sym> = grown.into_iter().flatten().map(|(_, extent)| b.axis(extent, &mut used)).collect();
            push(view, from, to, at, &b.facts, &mut fresh.into_iter())
        }
        Op::Map(_) | Op::Materialize | Op::Scan(..) | Op::Result(_) if b.is_member(user) => Some(at.to_vec()),
        Op::Gather(_) if b.is_member(user) && n.args[0] != node => Some(at.to_vec()),
        Op::Reduce(_, axes) if b.is_member(user) => {
            let kept: Vec<Sym> = (0..at.len()).filter(|d| !axes.contains(d)).map(|d| at[d].clone()).collect();
            let reduced: Vec<Sym> = axes.iter().map(|&d| at[d].clone()).collect();
            b.free_of_all(&kept).and(b.free_of_all(&reduced)).is_empty().then_some(kept)
        }
        _ => None,
    }
}

/// Adds the store of a `Write` whose source is evaluated at `at`.
pub(crate) fn store_write(
    b: &mut Build<'_>,
    write: NodeId,
    combine: WriteCombine,
    place: &At,
    at: &[Sym],
) -> Result<(), Refusal> {
    let args = b.graph.node(write).args.clone();
    let (dst, src) = (args[0], args[1]);
    let mut collides = false;
    let mut index = at.to_vec();
    match place {
        At::Slice { start, step } => {
            for (d, i) in index.iter_mut().enumerate() {
                *i = (i.clone() * step[d] + start[d].clone()).simplify(&b.facts);
            }
        }
        At::Dynamic { axes } => {
            for (k, &axis) in axes.iter().enumerate() {
                let start = b.operand(args[2 + k], &[])?;
                let room = (b.graph.shape(dst)[axis].clone() - b.graph.shape(src)[axis].clone()).simplify(&b.facts);
                let zero = b.index_value(Sym::from(0))?;
                let last = b.index_value(room.clone())?;
                let low = b.op(ScalarOp::Max, &[start, zero], DType::I64)?;
                let clamped = b.op(ScalarOp::Min, &[low, last], DType::I64)?;
                index[axis] = b.value_var(clamped, &(room + 1)) + index[axis].clone();
            }
        }
        At::Indices { axes, unique } => {
            for (k, &axis) in axes.iter().enumerate() {
                let value = b.operand(args[2 + k], at)?;
                let limit = b.graph.shape(dst)[axis].clone();
                index[axis] = b.write_index(write, value, &limit, axis)?;
            }
            collides = !unique;
        }
    }
    let value = b.operand(src, at)?;
    let combine = match combine {
        WriteCombine::Set => None,
        WriteCombine::Add => Some(ScalarOp::Add),
        WriteCombine::Mul => Some(ScalarOp::Mul),
        WriteCombine::Max => Some(ScalarOp::Max),
        WriteCombine::Min => Some(ScalarOp::Min),
    };
    let arg = b.written_arg(write);
    b.comp.stores.push(Store { arg, index, when: Vec::new(), value, combine, collides });
    Ok(())
}
