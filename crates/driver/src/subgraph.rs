//! The part of a plan's graph that one kernel computes, as a graph of its own: what the oracle runs.

use std::collections::{BTreeMap, BTreeSet};

use graph::{Graph, InputDecl, Node, NodeId, Op, Output, Type};

/// A kernel's nodes as a graph, and the stored value behind each of its inputs.
pub(crate) struct Subgraph {
    pub(crate) graph: Graph,
    pub(crate) inputs: Vec<NodeId>,
}

/// Extracts what `outputs` need, down to values that are not computed by `members`.
pub(crate) fn subgraph(graph: &Graph, members: &[NodeId], outputs: &[NodeId]) -> Subgraph {
    let members: BTreeSet<NodeId> = members.iter().copied().collect();
    let computed = |id: NodeId| match &graph.node(id).op {
        Op::View(_) | Op::Const(_) | Op::SymConst(_) | Op::Iota(_) => true,
        Op::Result(_) => members.contains(&graph.node(id).args[0]),
        _ => members.contains(&id),
    };
    let mut needed = BTreeSet::new();
    let mut stack = outputs.to_vec();
    while let Some(id) = stack.pop() {
        if needed.insert(id) && computed(id) {
            stack.extend(graph.node(id).args.iter().copied());
        }
    }
    let mut out = Graph {
        name: format!("{}_part", graph.name),
        facts: graph.facts.clone(),
        origins: graph.origins.clone(),
        ..Graph::default()
    };
    let mut map: BTreeMap<NodeId, NodeId> = BTreeMap::new();
    let mut inputs = Vec::new();
    for id in needed {
        let node = graph.node(id);
        let new = if computed(id) {
            let mut node = node.clone();
            node.args.iter_mut().for_each(|a| *a = map[a]);
            node
        } else {
            let ty = graph.tensor(id).clone();
            let slot = inputs.len() as u32;
            inputs.push(id);
            out.inputs.push(InputDecl { name: format!("v{}", id.0), ty: ty.clone(), frozen: false, donated: false });
            Node { op: Op::Input(slot), args: Default::default(), ty: Type::Tensor(ty), origin: node.origin }
        };
        out.nodes.push(new);
        map.insert(id, NodeId(out.nodes.len() as u32 - 1));
    }
    out.outputs = outputs.iter().map(|o| Output { name: format!("v{}", o.0), value: map[o] }).collect();
    Subgraph { graph: out, inputs }
}
