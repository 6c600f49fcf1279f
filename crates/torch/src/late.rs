//! When values are needed: what is made of arguments alone waits for its first reader, so that no memory holds it until then.

use std::collections::BTreeSet;

use crate::aten;
use crate::fx::{self, Kind, Value};

/// Storages of the operands of nodes that may write them.
pub(crate) fn written(fx: &fx::Graph) -> BTreeSet<u64> {
    let writers = fx.nodes.iter().filter(|n| n.effect);
    let operands = writers.flat_map(|n| &n.operands).flat_map(|&o| fx.nodes[o].value.tensors());
    operands.map(|t| t.storage).collect()
}

/// The level before which no node needs a node: 0 for what is not made of arguments alone. Nodes that have a lowering are taken to
/// be lowered; levels are those of [`crate::cut`].
pub(crate) fn needed(fx: &fx::Graph, refused: &BTreeSet<String>, written: &BTreeSet<u64>) -> Vec<usize> {
    let has_lowering = |n: &fx::Node| !refused.contains(&n.target) && aten::is_lowered(&n.target);
    let lowered = |n: &fx::Node| !n.effect && (has_lowering(n) || fx::is_item(n) || fx::is_number(n));
    let (mut ready, mut free): (Vec<usize>, Vec<bool>) = (Vec::new(), Vec::new());
    for node in &fx.nodes {
        let after = |&o: &fx::Id| ready[o] + usize::from(fx.nodes[o].kind == Kind::Call && !lowered(&fx.nodes[o]));
        ready.push(node.operands.iter().map(after).max().unwrap_or(0));
        free.push(match node.kind {
            Kind::Input => node.value.tensors().into_iter().all(|t| !written.contains(&t.storage)),
            Kind::Call => {
                let counts = |&&o: &&fx::Id| !fx::is_number(node) || matches!(fx.nodes[o].value, Value::Int(_));
                lowered(node) && node.operands.iter().filter(counts).all(|&o| free[o])
            }
            Kind::Attribute | Kind::Output => false,
        });
    }
    let mut first: Vec<Option<usize>> = vec![None; fx.nodes.len()];
    for (id, node) in fx.nodes.iter().enumerate().rev().filter(|(_, n)| n.kind == Kind::Call) {
        let level = first[id].filter(|_| free[id]).unwrap_or(ready[id]);
        for &o in &node.operands {
            first[o] = Some(first[o].map_or(level, |l| l.min(level)));
        }
    }
    first.into_iter().zip(free).map(|(level, free)| level.filter(|_| free).unwrap_or(0)).collect()
}
