//! Shrinks a failing program.
//!
//! Greedy passes over a verified graph until none helps: keep one output, return an operand of a result instead of it,
//! replace a node by one of its operands, by an input or by zeros of its type, drop what is then unused, make a dimension
//! smaller. Every candidate verifies, and is kept only if it still fails.

use graph::{Builder, Graph, HostTensor, NodeId, Op, Type};
use scalar::{Scalar, Sym};

/// Whether a candidate still shows the failure.
pub type StillFails<'a> = dyn FnMut(&Graph, &[HostTensor]) -> bool + 'a;

/// A program and its arguments.
type Sample = (Graph, Vec<HostTensor>);

/// The smallest failing program that greedy steps find, with its arguments. A program that does not fail comes back as it is.
pub fn reduce(graph: &Graph, inputs: &[HostTensor], still_fails: &mut StillFails<'_>) -> Sample {
    let mut best: Sample = (graph.clone(), inputs.to_vec());
    loop {
        let before = size(&best);
        for pass in [drop_outputs, move_outputs, replace_nodes, drop_inputs, shrink_dimensions] {
            pass(&mut best, still_fails);
        }
        if size(&best) >= before {
            return best;
        }
    }
}

/// Measure that every kept step lowers: outputs, inputs, nodes, and elements of the arguments.
fn size((graph, inputs): &Sample) -> usize {
    graph.outputs.len() + graph.inputs.len() + graph.nodes.len() + inputs.iter().map(HostTensor::len).sum::<usize>()
}

/// Keeps a candidate that is smaller, verifies and fails.
fn accept(best: &mut Sample, candidate: Option<Sample>, still_fails: &mut StillFails<'_>) -> bool {
    let Some(candidate) = candidate else { return false };
    let fails = size(&candidate) < size(best) && graph::verify(&candidate.0).is_ok() && still_fails(&candidate.0, &candidate.1);
    if fails {
        *best = candidate;
    }
    fails
}

/// Tries each output alone, then without each.
fn drop_outputs(best: &mut Sample, still_fails: &mut StillFails<'_>) {
    for i in 0..best.0.outputs.len() {
        let one = rebuild(&best.0, &Edit { outputs: Some(&|k| k == i), ..Edit::default() }).map(|g| (g, best.1.clone()));
        if best.0.outputs.len() > 1 && accept(best, one, still_fails) {
            return;
        }
    }
    let mut i = 0;
    while i < best.0.outputs.len() && best.0.outputs.len() > 1 {
        let rest = rebuild(&best.0, &Edit { outputs: Some(&|k| k != i), ..Edit::default() }).map(|g| (g, best.1.clone()));
        if !accept(best, rest, still_fails) {
            i += 1;
        }
    }
}

/// Tries to return an operand of a result instead of the result.
fn move_outputs(best: &mut Sample, still_fails: &mut StillFails<'_>) {
    let mut i = 0;
    while let Some(output) = best.0.outputs.get(i) {
        let operands = best.0.node(output.value).args.clone();
        let moved = operands.into_iter().any(|to| {
            let candidate = rebuild(&best.0, &Edit { output: Some((i, to)), ..Edit::default() }).map(|g| (g, best.1.clone()));
            accept(best, candidate, still_fails)
        });
        if !moved {
            i += 1;
        }
    }
}

/// Tries to replace each node, last first, by something of its type that exists already.
fn replace_nodes(best: &mut Sample, still_fails: &mut StillFails<'_>) {
    let mut i = best.0.nodes.len();
    while i > 0 {
        i = (i - 1).min(best.0.nodes.len().saturating_sub(1));
        let id = NodeId(i as u32);
        for by in replacements(&best.0, id) {
            let candidate = rebuild(&best.0, &Edit { replace: Some((id, by)), ..Edit::default() }).map(|g| (g, best.1.clone()));
            if accept(best, candidate, still_fails) {
                break;
            }
        }
    }
}

/// What stands for a removed node.
#[derive(Clone, Copy, Debug)]
enum By {
    /// An earlier node of the same type.
    Node(NodeId),
    /// Zeros.
    Zero,
}

fn replacements(graph: &Graph, id: NodeId) -> Vec<By> {
    let node = graph.node(id);
    if matches!(node.op, Op::Input(_) | Op::Const(_)) || matches!(node.ty, Type::Tuple(_)) {
        return Vec::new();
    }
    let same = |other: &NodeId| graph.node(*other).ty == node.ty;
    let earlier = graph.ids().take(id.index()).filter(|o| matches!(graph.node(*o).op, Op::Input(_)));
    let mut list: Vec<By> = node.args.iter().copied().chain(earlier).filter(same).map(By::Node).collect();
    list.push(By::Zero);
    list
}

/// Drops input slots that no node reads.
fn drop_inputs(best: &mut Sample, still_fails: &mut StillFails<'_>) {
    let mut slot = best.0.inputs.len();
    while slot > 0 {
        slot -= 1;
        let used = best.0.nodes.iter().any(|n| matches!(n.op, Op::Input(s) if s as usize == slot) && reads(&best.0, n));
        if !used && slot < best.0.inputs.len() {
            let mut inputs = best.1.clone();
            inputs.remove(slot);
            let candidate = rebuild(&best.0, &Edit { drop_input: Some(slot), ..Edit::default() }).map(|g| (g, inputs));
            accept(best, candidate, still_fails);
        }
    }
}

/// Whether an output or another node reads the node.
fn reads(graph: &Graph, node: &graph::Node) -> bool {
    let Some(id) = graph.ids().find(|&i| std::ptr::eq(graph.node(i), node)) else { return false };
    graph.outputs.iter().any(|o| o.value == id) || graph.nodes.iter().any(|n| n.args.contains(&id))
}

/// Tries smaller sizes of every symbol, by cutting the arguments.
fn shrink_dimensions(best: &mut Sample, still_fails: &mut StillFails<'_>) {
    let vars: std::collections::BTreeSet<_> = best.0.inputs.iter().flat_map(|i| &i.ty.shape).filter_map(Sym::as_var).collect();
    for var in vars {
        for size in [1usize, 2, 3, 4, 0] {
            let cut = |(decl, t): (&graph::InputDecl, &HostTensor)| {
                let shape: Vec<usize> = decl
                    .ty
                    .shape
                    .iter()
                    .zip(t.shape())
                    .map(|(n, &d)| if n.as_var() == Some(var) { size.min(d) } else { d })
                    .collect();
                corner(t, &shape)
            };
            let inputs: Vec<HostTensor> = best.0.inputs.iter().zip(&best.1).map(cut).collect();
            let candidate = Some((best.0.clone(), inputs));
            if accept(best, candidate, still_fails) {
                break;
            }
        }
    }
}

/// The first elements of a tensor along every axis.
fn corner(t: &HostTensor, shape: &[usize]) -> HostTensor {
    let count: usize = shape.iter().product();
    let element = |mut i: usize| {
        let (mut at, mut stride) = (0, 1);
        for (&new, &old) in shape.iter().zip(t.shape()).rev() {
            at += i % new * stride;
            (i, stride) = (i / new, stride * old);
        }
        t.get(at)
    };
    HostTensor::from_scalars(t.dtype(), shape, (0..count).map(element))
}

/// What to change while rebuilding.
#[derive(Default)]
struct Edit<'a> {
    outputs: Option<&'a dyn Fn(usize) -> bool>,
    output: Option<(usize, NodeId)>,
    replace: Option<(NodeId, By)>,
    drop_input: Option<usize>,
}

/// The graph with an edit and without what is then unused; `None` when it does not build.
fn rebuild(graph: &Graph, edit: &Edit<'_>) -> Option<Graph> {
    let value = |i: usize, o: &graph::Output| edit.output.filter(|&(at, _)| at == i).map_or(o.value, |(_, to)| to);
    let outputs = graph.outputs.iter().enumerate().filter(|(i, _)| edit.outputs.is_none_or(|keep| keep(*i)));
    let kept: Vec<(&str, NodeId)> = outputs.map(|(i, o)| (o.name.as_str(), value(i, o))).collect();
    let live = live(graph, kept.iter().map(|&(_, v)| v), edit.replace);
    let mut start = graph.clone();
    if let Some(slot) = edit.drop_input {
        start.inputs.remove(slot);
    }
    let mut b = Builder::rewrite(&start);
    let mut new: Vec<Option<NodeId>> = vec![None; graph.nodes.len()];
    for id in graph.ids().filter(|id| live[id.index()]) {
        let node = graph.node(id);
        b.set_origin(node.origin).ok()?;
        new[id.index()] = match edit.replace {
            Some((old, By::Node(by))) if old == id => new[by.index()],
            Some((old, By::Zero)) if old == id => zeros(&mut b, &node.ty),
            _ => {
                let args = node.args.iter().map(|a| new[a.index()]).collect::<Option<Vec<_>>>()?;
                b.add(moved(&node.op, edit.drop_input), &args).ok()
            }
        };
        new[id.index()]?;
    }
    kept.into_iter().try_for_each(|(name, value)| b.output(name, new[value.index()]?).ok())?;
    Some(b.finish())
}

/// An input op whose slot follows the removal of another.
fn moved(op: &Op, dropped: Option<usize>) -> Op {
    match (op, dropped) {
        (Op::Input(slot), Some(d)) if *slot as usize > d => Op::Input(slot - 1),
        _ => op.clone(),
    }
}

fn zeros(b: &mut Builder, ty: &Type) -> Option<NodeId> {
    let Type::Tensor(t) = ty else { return None };
    let zero = b.constant(Scalar::zero(t.dtype)).ok()?;
    if t.shape.is_empty() {
        return Some(zero);
    }
    let flat = b.reshape(zero, t.shape.iter().map(|_| Sym::ONE)).ok()?;
    b.expand(flat, t.shape.clone()).ok()
}

/// Nodes that the outputs need once a node is replaced.
fn live(graph: &Graph, outputs: impl Iterator<Item = NodeId>, replace: Option<(NodeId, By)>) -> Vec<bool> {
    let mut live = vec![false; graph.nodes.len()];
    outputs.for_each(|o| live[o.index()] = true);
    for id in graph.ids().rev() {
        if !live[id.index()] {
            continue;
        }
        match replace {
            Some((old, By::Node(by))) if old == id => live[by.index()] = true,
            Some((old, By::Zero)) if old == id => {}
            _ => graph.node(id).args.iter().for_each(|a| live[a.index()] = true),
        }
    }
    live
}
