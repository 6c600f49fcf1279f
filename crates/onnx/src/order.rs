//! Which nodes of a graph are needed, in an order in which operands come first.

use std::collections::{BTreeMap, BTreeSet};

use base::{Error, Result};

use crate::node::label;
use crate::proto::{GraphProto, NodeProto};

/// Indices of the nodes that the outputs need, operands first, else in file order.
///
/// # Errors
/// A value with two producers, or a cycle, naming a node on it.
pub(crate) fn needed(graph: &GraphProto) -> Result<Vec<usize>> {
    let mut producer: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, node) in graph.node.iter().enumerate() {
        for name in node.output.iter().filter(|n| !n.is_empty()) {
            if producer.insert(name, i).is_some() {
                return Err(Error::parse(format!("value '{name}' is produced twice")));
            }
        }
    }
    let mut walk = Walk { graph, producer, state: vec![State::New; graph.node.len()], order: Vec::new() };
    let mut roots: Vec<usize> = graph.output.iter().filter_map(|o| walk.producer.get(o.name()).copied()).collect();
    roots.sort_unstable();
    for root in roots {
        walk.visit(root)?;
    }
    Ok(walk.order)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

struct Walk<'a> {
    graph: &'a GraphProto,
    producer: BTreeMap<&'a str, usize>,
    state: Vec<State>,
    order: Vec<usize>,
}

impl Walk<'_> {
    /// Depth-first search with a stack of its own: chains are longer than the call stack.
    fn visit(&mut self, root: usize) -> Result<()> {
        let mut stack = vec![root];
        while let Some(&at) = stack.last() {
            match self.state[at] {
                State::Done => {
                    stack.pop();
                }
                State::Open => {
                    self.state[at] = State::Done;
                    self.order.push(at);
                    stack.pop();
                }
                State::New => {
                    self.state[at] = State::Open;
                    for next in self.producers(at) {
                        match self.state[next] {
                            State::New => stack.push(next),
                            State::Open => return Err(self.cycle(at)),
                            State::Done => {}
                        }
                    }
                }
            }
        }
        Ok(())
    }
    /// Producers of what a node reads, the last in the file first.
    fn producers(&self, at: usize) -> Vec<usize> {
        let mut names = BTreeSet::new();
        reads(&self.graph.node[at], &mut names);
        let set: BTreeSet<usize> = names.iter().filter_map(|n| self.producer.get(n).copied()).collect();
        set.into_iter().rev().collect()
    }
    fn cycle(&self, at: usize) -> Error {
        Error::parse(format!("the graph has a cycle through node '{}'", label(&self.graph.node[at])))
    }
}

/// Names that a node reads, by its subgraphs too.
fn reads<'a>(node: &'a NodeProto, names: &mut BTreeSet<&'a str>) {
    names.extend(node.input.iter().map(String::as_str).filter(|n| !n.is_empty()));
    for graph in node.attribute.iter().flat_map(|a| a.g.iter().chain(&a.graphs)) {
        graph.node.iter().for_each(|n| reads(n, names));
        names.extend(graph.output.iter().map(|o| o.name()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::ValueInfoProto;

    fn node(input: &[&str], output: &str) -> NodeProto {
        NodeProto { input: input.iter().map(|s| s.to_string()).collect(), output: vec![output.into()], ..Default::default() }
    }

    fn graph(nodes: Vec<NodeProto>, output: &str) -> GraphProto {
        let output = ValueInfoProto { name: Some(output.into()), ..Default::default() };
        GraphProto { node: nodes, output: vec![output], ..Default::default() }
    }

    #[test]
    fn sorts_and_drops_unused() {
        let g = graph(vec![node(&["b"], "c"), node(&["x"], "a"), node(&["a", "a"], "b"), node(&["a"], "unused")], "c");
        assert_eq!(needed(&g).unwrap(), [1, 2, 0]);
    }

    #[test]
    fn finds_cycles() {
        let error = needed(&graph(vec![node(&["b"], "a"), node(&["a"], "b")], "b")).unwrap_err();
        assert!(error.to_string().contains("cycle through node"), "{error}");
        assert!(needed(&graph(vec![node(&["a"], "a")], "a")).is_err());
    }

    #[test]
    fn long_chains_do_not_overflow_the_stack() {
        let nodes = (0..100_000).map(|i| node(&[&format!("v{}", i + 1)], &format!("v{i}"))).collect();
        assert_eq!(needed(&graph(nodes, "v0")).unwrap().len(), 100_000);
    }
}
