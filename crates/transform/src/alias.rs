//! In-place analysis: which writes may overwrite their destination's buffer.
//!
//! A write is *in place* when its destination lives in a buffer that the program owns (a computed value or a donated
//! input), is not a result, and every other reader of it can run before the write. Each such reader gives an
//! anti-dependence, an ordering edge that all later cycle checks must respect. Otherwise the write is *functional*: it
//! copies the destination first.

use graph::{Graph, NodeId, Op, View};

/// How a write is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMode {
    /// Into the destination's own buffer.
    InPlace,
    /// Into a copy of the destination.
    Functional,
}

/// Decision on one write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The write.
    pub write: NodeId,
    /// How it is done.
    pub mode: WriteMode,
    /// Nodes that must run before it because they read the buffer that it overwrites; ascending, empty when functional.
    pub after: Vec<NodeId>,
}

/// Decides every write of the graph, in topological order: an earlier write is preferred for a contested buffer.
pub fn alias(graph: &Graph) -> Vec<Alias> {
    let mut order = Order { users: graph.users() };
    let mut decided = Vec::new();
    for write in graph.ids().filter(|&id| matches!(graph.node(id).op, Op::Write(..))) {
        let after = in_place(graph, &order, write);
        for &reader in after.iter().flatten() {
            order.users[reader.index()].push(write);
        }
        let mode = if after.is_some() { WriteMode::InPlace } else { WriteMode::Functional };
        decided.push(Alias { write, mode, after: after.unwrap_or_default() });
    }
    decided
}

/// The readers that must come before, if the write may be in place.
fn in_place(graph: &Graph, order: &Order, write: NodeId) -> Option<Vec<NodeId>> {
    let root = owned_buffer(graph, graph.node(write).args[0])?;
    let values = aliases(graph, root);
    if graph.outputs.iter().any(|o| values[o.value.index()]) {
        return None;
    }
    if graph.node(write).args[1..].iter().any(|a| values[a.index()]) {
        return None;
    }
    let reads = |id: NodeId| !values[id.index()] && graph.node(id).args.iter().any(|a| values[a.index()]);
    let readers: Vec<NodeId> = graph.ids().filter(|&id| id != write && reads(id)).collect();
    let later = order.reachable(write);
    readers.iter().all(|r| !later[r.index()]).then_some(readers)
}

/// The node whose buffer a destination occupies whole, if the program may overwrite that buffer.
fn owned_buffer(graph: &Graph, mut id: NodeId) -> Option<NodeId> {
    while let Op::View(View::Reshape(_)) = graph.node(id).op {
        id = graph.node(id).args[0];
    }
    match graph.node(id).op {
        Op::Input(slot) => {
            let decl = &graph.inputs[slot as usize];
            (decl.donated && !decl.frozen).then_some(id)
        }
        Op::Const(_) | Op::SymConst(_) | Op::Iota(_) | Op::View(_) => None,
        _ => Some(id),
    }
}

/// The node and all views of it, by node.
fn aliases(graph: &Graph, root: NodeId) -> Vec<bool> {
    let mut same = vec![false; graph.nodes.len()];
    same[root.index()] = true;
    for id in graph.ids() {
        let node = graph.node(id);
        if matches!(node.op, Op::View(_)) && same[node.args[0].index()] {
            same[id.index()] = true;
        }
    }
    same
}

/// Successors of every node: readers, and later writes by anti-dependence.
struct Order {
    users: Vec<Vec<NodeId>>,
}

impl Order {
    /// Nodes that come after `from` in every order of execution.
    fn reachable(&self, from: NodeId) -> Vec<bool> {
        let mut seen = vec![false; self.users.len()];
        let mut stack = vec![from];
        while let Some(id) = stack.pop() {
            for &next in &self.users[id.index()] {
                if !std::mem::replace(&mut seen[next.index()], true) {
                    stack.push(next);
                }
            }
        }
        seen
    }
}
