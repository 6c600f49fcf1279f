//! Who computes and who reads each value, views aside.

use graph::{Graph, NodeId, Op};

/// Readers of every stored value.
pub(crate) struct Values {
    /// The value that a node is, through views: an input, constant, compute node or `Result`.
    pub(crate) value_of: Vec<NodeId>,
    /// Compute nodes that read a value, ascending.
    pub(crate) readers: Vec<Vec<NodeId>>,
    /// Values that graph outputs show.
    pub(crate) is_output: Vec<bool>,
    /// Values of a compute node: itself, or its `Result`s.
    pub(crate) values: Vec<Vec<NodeId>>,
}

/// Whether a node is computed by kernels (not an input, constant, index or view).
pub(crate) fn is_compute(op: &Op) -> bool {
    !matches!(op, Op::Input(_) | Op::Const(_) | Op::SymConst(_) | Op::Iota(_) | Op::View(_) | Op::Result(_))
}

/// Whether a node runs on its own, outside any comp.
pub(crate) fn is_opaque(op: &Op) -> bool {
    matches!(op, Op::Call(..) | Op::Region(_))
}

impl Values {
    pub(crate) fn new(graph: &Graph) -> Values {
        let n = graph.nodes.len();
        let mut v = Values {
            value_of: graph.ids().collect(),
            readers: vec![Vec::new(); n],
            is_output: vec![false; n],
            values: vec![Vec::new(); n],
        };
        for id in graph.ids() {
            let node = graph.node(id);
            match &node.op {
                Op::View(_) => v.value_of[id.index()] = v.value_of[node.args[0].index()],
                Op::Result(_) => v.values[node.args[0].index()].push(id),
                op if is_compute(op) => {
                    if matches!(node.ty, graph::Type::Tensor(_)) {
                        v.values[id.index()].push(id);
                    }
                    for arg in &node.args {
                        let value = v.value_of[arg.index()];
                        if v.readers[value.index()].last() != Some(&id) {
                            v.readers[value.index()].push(id);
                        }
                    }
                }
                _ => {}
            }
        }
        for o in &graph.outputs {
            let value = v.value_of[o.value.index()];
            v.is_output[value.index()] = true;
        }
        v
    }

    /// The compute node behind a value, if it has one.
    pub(crate) fn owner(graph: &Graph, value: NodeId) -> Option<NodeId> {
        match &graph.node(value).op {
            Op::Result(_) => Some(graph.node(value).args[0]),
            op if is_compute(op) => Some(value),
            _ => None,
        }
    }
}
