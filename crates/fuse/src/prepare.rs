//! Puts buffers where something needs one: operands of opaque nodes, written destinations, parts of a concat, and outputs
//! that no strided view can show. Concats of many parts become concats of concats.

use graph::{Graph, Node, NodeId, Op, OriginId, Type};
use scalar::Sym;

use crate::strides::strided;
use crate::values::{is_compute, is_opaque};

/// Most parts of a concat: each takes values of the one kernel that computes it.
const MOST_PARTS: usize = 32;

/// The graph with `Materialize` nodes inserted.
pub fn prepare(graph: &Graph) -> Graph {
    let users = graph.users();
    let mut out = Graph { nodes: Vec::with_capacity(graph.nodes.len()), ..graph.clone() };
    out.nodes.clear();
    let mut map: Vec<NodeId> = Vec::with_capacity(graph.nodes.len());
    for id in graph.ids() {
        let mut node = graph.node(id).clone();
        node.args.iter_mut().for_each(|a| *a = map[a.index()]);
        let mut seen = Vec::new();
        for k in 0..node.args.len() {
            let original = graph.node(id).args[k];
            if needs_buffer(graph, &users, id, k, original, &seen) {
                node.args[k] = materialize(&mut out, node.args[k], node.origin);
            }
            seen.push(original);
        }
        if let Op::Concat(axis) = node.op {
            group_parts(&mut out, &mut node, axis);
        }
        map.push(push(&mut out, node));
    }
    for k in 0..out.outputs.len() {
        let value = map[graph.outputs[k].value.index()];
        let base = strided(&out, value).map(|s| s.base);
        let shown = base.is_some_and(|b| matches!(out.node(b).op, Op::Input(_) | Op::Result(_)) || is_compute(&out.node(b).op));
        let origin = out.node(value).origin;
        out.outputs[k].value = if shown { value } else { materialize(&mut out, value, origin) };
    }
    out
}

fn needs_buffer(graph: &Graph, users: &[Vec<NodeId>], id: NodeId, k: usize, arg: NodeId, seen: &[NodeId]) -> bool {
    let op = &graph.node(arg).op;
    let stored = is_compute(op) || matches!(op, Op::Result(_));
    match &graph.node(id).op {
        op if is_opaque(op) => !stored && !matches!(graph.node(arg).op, Op::Input(_)),
        Op::Write(..) => k == 0 && !stored && !matches!(graph.node(arg).op, Op::Input(_)),
        Op::Concat(_) => {
            let readers = &users[arg.index()];
            let parts = readers.iter().filter(|u| matches!(graph.node(**u).op, Op::Concat(_))).count();
            let overwritten = readers.iter().any(|u| matches!(graph.node(*u).op, Op::Write(..)) && graph.node(*u).args[0] == arg);
            !stored
                || overwritten
                || parts > 1
                || seen.contains(&arg)
                || matches!(op, Op::Write(..) | Op::Call(..) | Op::Region(_) | Op::Result(_))
        }
        _ => false,
    }
}

/// Replaces the parts of a concat by concats of neighbours until there are few.
fn group_parts(graph: &mut Graph, concat: &mut Node, axis: usize) {
    while concat.args.len() > MOST_PARTS {
        let groups: Vec<Vec<NodeId>> = concat.args.chunks(MOST_PARTS).map(<[NodeId]>::to_vec).collect();
        concat.args = groups.iter().map(|parts| group(graph, parts, axis, concat.origin)).collect();
    }
}

fn group(graph: &mut Graph, parts: &[NodeId], axis: usize, origin: OriginId) -> NodeId {
    if let &[part] = parts {
        return part;
    }
    let mut ty = graph.tensor(parts[0]).clone();
    ty.shape[axis] = parts.iter().map(|&p| graph.shape(p)[axis].clone()).fold(Sym::ZERO, |sum, n| &sum + &n);
    push(graph, Node { op: Op::Concat(axis), args: parts.iter().copied().collect(), ty: Type::Tensor(ty), origin })
}

fn push(graph: &mut Graph, node: Node) -> NodeId {
    graph.nodes.push(node);
    NodeId(graph.nodes.len() as u32 - 1)
}

fn materialize(graph: &mut Graph, arg: NodeId, origin: OriginId) -> NodeId {
    let ty = Type::Tensor(graph.tensor(arg).clone());
    push(graph, Node { op: Op::Materialize, args: [arg].into_iter().collect(), ty, origin })
}
