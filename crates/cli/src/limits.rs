//! Ranges for made-up integer inputs, from what reads them.

use std::collections::BTreeMap;

use graph::{At, Graph, NodeId, Op};
use scalar::{ScalarOp, Sym, Var};

/// Values an integer input takes when nothing else is known.
const PLAIN: i64 = 16;

/// `[0, high)` for an integer input: the extent of the smallest table that it indexes or one-hot width that it is compared
/// with, found through views, casts and index arithmetic; else 2 for names with mask or type, else 16.
pub(crate) fn high(graph: &Graph, slot: usize, dims: &BTreeMap<Var, i64>) -> i64 {
    let name = graph.inputs[slot].name.to_lowercase();
    let otherwise = if name.contains("mask") || name.contains("type") { 2 } else { PLAIN };
    extent_read(graph, slot, dims).unwrap_or(otherwise).max(1)
}

fn extent_read(graph: &Graph, slot: usize, dims: &BTreeMap<Var, i64>) -> Option<i64> {
    let users = graph.users();
    let start = graph.ids().find(|&id| graph.node(id).op == Op::Input(slot as u32))?;
    let mut seen = vec![false; graph.nodes.len()];
    let mut open = vec![start];
    let mut least: Option<i64> = None;
    while let Some(value) = open.pop() {
        for &user in &users[value.index()] {
            for extent in limits(graph, user, value) {
                let n = extent.eval(&|v| dims.get(&v).copied()).ok();
                least = n.into_iter().chain(least).min();
            }
            if carries(graph, user) && !std::mem::replace(&mut seen[user.index()], true) {
                open.push(user);
            }
        }
    }
    least
}

/// Extents that bound an index when `user` reads it.
fn limits(graph: &Graph, user: NodeId, value: NodeId) -> Vec<Sym> {
    let node = graph.node(user);
    let indexed = |axes: &[usize], first: usize| {
        let shape = graph.shape(node.args[0]);
        let pairs = axes.iter().zip(&node.args[first..]);
        pairs.filter(|(_, arg)| **arg == value).map(|(&axis, _)| shape[axis].clone()).collect()
    };
    match &node.op {
        Op::Gather(axes) => indexed(axes, 1),
        Op::Write(_, At::Indices { axes, .. }) => indexed(axes, 2),
        Op::Map(ScalarOp::Eq) => node.args.iter().filter(|&&a| a != value).filter_map(|&a| counted(graph, a)).collect(),
        _ => Vec::new(),
    }
}

/// The count of an iota seen through views and casts.
fn counted(graph: &Graph, mut id: NodeId) -> Option<Sym> {
    loop {
        let node = graph.node(id);
        match &node.op {
            Op::Iota(n) => return Some(n.clone()),
            Op::View(_) | Op::Map(ScalarOp::Cast(_)) => id = node.args[0],
            _ => return None,
        }
    }
}

/// Whether the result still is an index, if an operand is one.
fn carries(graph: &Graph, id: NodeId) -> bool {
    use ScalarOp as S;
    match &graph.node(id).op {
        Op::View(_) | Op::Materialize | Op::Concat(_) => true,
        Op::Map(S::Cast(d)) => d.is_int(),
        Op::Map(S::Add | S::Sub | S::Select | S::Min | S::Max | S::Mod | S::Rem) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn high_of(text: &str) -> i64 {
        high(&graph::text::parse("t", text).unwrap(), 0, &BTreeMap::from([(Var::new("v"), 77)]))
    }

    #[test]
    fn a_table_bounds_the_index_through_arithmetic() {
        let text = "func f(i: i64[3], t: frozen f32[v]) {
          %n = sym v
          %e = view.reshape %n [1]
          %b = view.expand %e [3]
          %s = add %i, %b
          %z = const i64 0
          %y = view.reshape %z [1]
          %o = view.expand %y [3]
          %c = lt %i, %o
          %w = select %c, %s, %i
          %g = gather %t, %w [0]
          return y = %g
        }";
        assert_eq!(high_of(text), 77);
    }

    #[test]
    fn one_hot_and_names() {
        let one_hot = "func f(i: i64[3]) {
          %a = iota 5
          %r = view.reshape %a [1, 5]
          %e = view.expand %r [3, 5]
          %c = view.reshape %i [3, 1]
          %d = view.expand %c [3, 5]
          %q = eq %d, %e
          return y = %q
        }";
        assert_eq!(high_of(one_hot), 5);
        assert_eq!(high_of("func f(attention_mask: i64[3]) {\n %a = neg %attention_mask\n return y = %a\n}"), 2);
        assert_eq!(high_of("func f(i: i64[3]) {\n %a = neg %i\n return y = %a\n}"), 16);
    }
}
