//! Control flow: `If`, `Loop` and `Scan` as regions, or inlined where the way is known.

use base::{Error, Result};
use graph::{Graph, InputDecl, NodeId, TensorType};
use scalar::{DType, Shape, Sym};

use super::Out;
use crate::ctx::{Built, Ctx, FrameKind};
use crate::import;
use crate::known::Ints;
use crate::node::{Node, axis};
use crate::proto::GraphProto;
use crate::value::Value;

/// Deepest nesting of bodies.
const MAX_DEPTH: usize = 16;

pub(super) fn branch(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let (then, other) = (n.graph("then_branch")?, n.graph("else_branch")?);
    let condition = n.input(0)?;
    if let Some(taken) = condition.host().filter(|h| h.len() == 1).map(|h| h.get(0).is_true()) {
        return inline(ctx, if taken { then } else { other });
    }
    let condition = ctx.node(condition)?;
    let condition = super::math::scalar_of(ctx, condition)?;
    let first = body(ctx, then, &[], &[])?;
    let second = body(ctx, other, &[], &first.captures)?;
    let first = with_inputs(first.graph, &second);
    let node = ctx.b().region_if(condition, &second.captures, first, second.graph)?;
    results(ctx, node, then.output.len())
}

/// Imports a branch in place; its names are its own.
fn inline(ctx: &mut Ctx, graph: &GraphProto) -> Out {
    ctx.scoped(|ctx| {
        import::body(ctx, graph)?;
        graph.output.iter().map(|o| ctx.lookup(o.name())).collect()
    })
}

/// The graph with the captures that only its sibling reads as further inputs.
fn with_inputs(mut graph: Graph, sibling: &Built) -> Graph {
    graph.inputs.extend(sibling.graph.inputs[graph.inputs.len()..].iter().cloned());
    graph
}

/// Builds a body: its inputs are bound to `inputs`, and the first captures are given.
fn body(ctx: &mut Ctx, proto: &GraphProto, inputs: &[Bound], captures: &[NodeId]) -> Result<Built> {
    if ctx.depth() >= MAX_DEPTH {
        return Err(Error::unsupported(format!("bodies nested more than {MAX_DEPTH} deep")));
    }
    let named = inputs.iter().filter(|b| !matches!(b, Bound::Step)).count();
    if proto.input.len() != named {
        return Err(Error::parse(format!("the body has {} inputs, {named} expected", proto.input.len())));
    }
    ctx.enter(FrameKind::Body, proto.name());
    let filled = fill(ctx, proto, inputs, captures);
    let built = ctx.leave();
    filled.map(|()| built)
}

/// What a body input stands for.
enum Bound {
    /// The region's step count, which the ONNX body does not take.
    Step,
    /// A region operand.
    Operand(TensorType),
    /// A constant.
    Known(Value),
}

fn fill(ctx: &mut Ctx, proto: &GraphProto, inputs: &[Bound], captures: &[NodeId]) -> Result<()> {
    let mut names = proto.input.iter().map(|i| i.name());
    for (i, bound) in inputs.iter().enumerate() {
        let value = match bound {
            Bound::Step => {
                ctx.b().input("step", DType::I64, Shape::new(), false)?;
                continue;
            }
            Bound::Operand(ty) => ctx.b().input_decl(operand(format!("operand_{i}"), ty.clone()))?.into(),
            Bound::Known(value) => value.clone(),
        };
        ctx.bind(names.next().unwrap_or_default(), value)?;
    }
    for &outer in captures {
        ctx.capture_first(outer)?;
    }
    import::body(ctx, proto)?;
    for (i, output) in proto.output.iter().enumerate() {
        let node = import::output_node(ctx, output.name())?;
        ctx.b().output(format!("result_{i}"), node)?;
    }
    Ok(())
}

fn operand(name: String, ty: TensorType) -> InputDecl {
    InputDecl { name, ty, frozen: false, donated: false }
}

fn results(ctx: &mut Ctx, node: NodeId, count: usize) -> Out {
    (0..count as u32).map(|i| ctx.b().result(node, i).map(Value::from)).collect()
}

/// `Loop` with a known number of steps and no early end.
pub(super) fn repeat(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let proto = n.graph("body")?;
    let trip = n.maybe(0).and_then(|v| v.ints()?.values.first().cloned());
    let trip = trip.ok_or_else(|| crate::ctx::data_dependent("trip count"))?;
    let goes_on = n.maybe(1).is_none_or(|c| c.host().is_some_and(|h| h.len() == 1 && h.get(0).is_true()));
    if !goes_on {
        return Err(crate::ctx::data_dependent("initial condition"));
    }
    let carried = (2..n.inputs.len()).map(|i| ctx.node(n.input(i)?)).collect::<Result<Vec<_>>>()?;
    let yes = Ints::new(DType::Bool, Vec::new(), vec![Sym::ONE]);
    let mut inputs = vec![Bound::Operand(TensorType { dtype: DType::I64, shape: Shape::new() }), Bound::Known(yes.into())];
    inputs.extend(carried.iter().map(|&c| Bound::Operand(ctx.b().graph().tensor(c).clone())));
    let mut built = body(ctx, proto, &inputs, &[])?;
    let condition = built.graph.outputs.remove(0).value;
    if !is_true(&built.graph, condition) {
        return Err(crate::ctx::data_dependent("condition of the body"));
    }
    let count = built.graph.outputs.len();
    let node = ctx.b().region_loop(Sym::max(&trip, &Sym::ZERO), &carried, &[], &built.captures, built.graph)?;
    results(ctx, node, count)
}

fn is_true(graph: &Graph, node: NodeId) -> bool {
    matches!(graph.node(node).op, graph::Op::Const(c) if c.is_true())
}

/// `Scan`: states are carried, scan inputs are read along their axes, scan outputs stacked along theirs.
pub(super) fn scan(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    if n.opset < 9 {
        return Err(Error::unsupported("Scan with a batch axis (op set 8)"));
    }
    let proto = n.graph("body")?;
    let operands = (0..n.inputs.len()).map(|i| ctx.node(n.input(i)?)).collect::<Result<Vec<_>>>()?;
    let scanned = usize::try_from(n.int("num_scan_inputs", 0)).ok().filter(|&s| s > 0 && s <= operands.len());
    let scanned = scanned.ok_or_else(|| Error::parse("num_scan_inputs is out of range"))?;
    let (carried, sequences) = operands.split_at(operands.len() - scanned);
    let sequences = sequences.iter().enumerate().map(|(i, &x)| time_first(ctx, n, x, i)).collect::<Result<Vec<_>>>()?;
    let trip = ctx.shape(sequences[0])[0].clone();
    let inner = |ctx: &mut Ctx, x: NodeId, skip: usize| {
        let ty = ctx.b().graph().tensor(x).clone();
        Bound::Operand(TensorType { shape: ty.shape[skip..].iter().cloned().collect(), ..ty })
    };
    let mut inputs = vec![Bound::Step];
    inputs.extend(carried.iter().map(|&c| inner(ctx, c, 0)));
    inputs.extend(sequences.iter().map(|&s| inner(ctx, s, 1)));
    let built = body(ctx, proto, &inputs, &[])?;
    let outputs = built.graph.outputs.len();
    let node = ctx.b().region_loop(trip, carried, &sequences, &built.captures, built.graph)?;
    let mut all = results(ctx, node, outputs)?;
    for (i, value) in all.iter_mut().enumerate().skip(carried.len()) {
        let stacked = ctx.node(value)?;
        *value = time_last(ctx, n, stacked, i - carried.len())?.into();
    }
    Ok(all)
}

fn listed(n: &Node<'_>, name: &str, i: usize) -> i64 {
    n.ints(name).and_then(|l| l.get(i)).copied().unwrap_or(0)
}

/// A scan input with its scan axis first, reversed if it is read backwards.
fn time_first(ctx: &mut Ctx, n: &Node<'_>, x: NodeId, i: usize) -> Result<NodeId> {
    let rank = ctx.rank(x);
    let at = axis(listed(n, "scan_input_axes", i), rank)?;
    let perm: Vec<usize> = [at].into_iter().chain((0..rank).filter(|&d| d != at)).collect();
    let x = if at == 0 { x } else { ctx.b().permute(x, &perm)? };
    if listed(n, "scan_input_directions", i) == 1 { ctx.b().flip(x, &[0]) } else { Ok(x) }
}

/// A stacked result with its first axis moved to where the node wants it.
fn time_last(ctx: &mut Ctx, n: &Node<'_>, x: NodeId, i: usize) -> Result<NodeId> {
    let x = if listed(n, "scan_output_directions", i) == 1 { ctx.b().flip(x, &[0])? } else { x };
    let rank = ctx.rank(x);
    let at = axis(listed(n, "scan_output_axes", i), rank)?;
    let mut perm: Vec<usize> = (1..rank).collect();
    perm.insert(at, 0);
    if at == 0 { Ok(x) } else { ctx.b().permute(x, &perm) }
}
