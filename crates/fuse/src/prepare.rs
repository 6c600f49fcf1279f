//! Puts buffers where something needs one: operands of opaque nodes, written destinations, parts of a concat, and outputs
//! that no strided view can show.

use graph::{Graph, Node, NodeId, Op, OriginId, Type};

use crate::strides::strided;
use crate::values::{is_compute, is_opaque};

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

fn push(graph: &mut Graph, node: Node) -> NodeId {
    graph.nodes.push(node);
    NodeId(graph.nodes.len() as u32 - 1)
}

fn materialize(graph: &mut Graph, arg: NodeId, origin: OriginId) -> NodeId {
    let ty = Type::Tensor(graph.tensor(arg).clone());
    push(graph, Node { op: Op::Materialize, args: [arg].into_iter().collect(), ty, origin })
}
