//! `LSTM`, `GRU` and `RNN`.

use base::{Error, Result};
use graph::NodeId;
use graph::compose::{self, Cell, Gates, Layer, Recurrent, Weights};

use super::{Out, one};
use crate::ctx::Ctx;
use crate::node::Node;

/// Operands of a layer with time as axis 0.
struct Operands {
    x: NodeId,
    w: NodeId,
    r: NodeId,
    bias: Option<NodeId>,
    lengths: Option<NodeId>,
    states: Vec<Option<NodeId>>,
}

pub(super) fn layer(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    refuse_variants(n)?;
    let batch_first = n.int("layout", 0) == 1;
    let operands = operands(ctx, n, batch_first)?;
    let directions: &[bool] = match n.string("direction", "forward") {
        "forward" => &[false],
        "reverse" => &[true],
        "bidirectional" => &[false, true],
        other => return Err(Error::parse(format!("direction '{other}'"))),
    };
    let mut runs = Vec::new();
    for (d, &reverse) in directions.iter().enumerate() {
        runs.push(direction(ctx, n, &operands, d as i64, reverse)?);
    }
    let outputs: Vec<NodeId> = runs.iter().map(|r| r.output).collect();
    let y = compose::stack(ctx.b(), &outputs, 1)?;
    let mut results = one(if batch_first { ctx.b().permute(y, &[2, 0, 1, 3])? } else { y })?;
    for state in 0..runs[0].states.len() {
        let last: Vec<NodeId> = runs.iter().map(|r| r.states[state]).collect();
        results.push(compose::stack(ctx.b(), &last, usize::from(batch_first))?.into());
    }
    Ok(results)
}

fn refuse_variants(n: &Node<'_>) -> Result<()> {
    let expected: &[&str] = match n.op() {
        "LSTM" => &["Sigmoid", "Tanh", "Tanh"],
        "GRU" => &["Sigmoid", "Tanh"],
        _ => &[],
    };
    let given = n.strings("activations");
    if !expected.is_empty() && !given.chunks(expected.len()).all(|c| c == expected) {
        return Err(Error::unsupported(format!("activations {given:?}")));
    }
    if n.maybe(7).is_some() && n.op() == "LSTM" {
        return Err(Error::unsupported("peephole weights"));
    }
    if n.has("clip") || n.flag("input_forget", false) {
        return Err(Error::unsupported("clip or input_forget"));
    }
    Ok(())
}

fn operands(ctx: &mut Ctx, n: &Node<'_>, batch_first: bool) -> Result<Operands> {
    let (x, w, r) = (ctx.node(n.input(0)?)?, ctx.node(n.input(1)?)?, ctx.node(n.input(2)?)?);
    if [x, w, r].iter().any(|&o| ctx.rank(o) != 3) {
        return Err(Error::parse("X, W and R must have rank 3"));
    }
    let x = if batch_first { ctx.b().permute(x, &[1, 0, 2])? } else { x };
    let mut optional = |i: usize| n.maybe(i).map(|v| ctx.node(v)).transpose();
    let (bias, lengths) = (optional(3)?, optional(4)?);
    let mut states = vec![optional(5)?];
    if n.op() == "LSTM" {
        states.push(optional(6)?);
    }
    for state in states.iter_mut().flatten().filter(|_| batch_first) {
        *state = ctx.b().permute(*state, &[1, 0, 2])?;
    }
    Ok(Operands { x, w, r, bias, lengths, states })
}

/// One direction: `d` selects its weights and initial states.
fn direction(ctx: &mut Ctx, n: &Node<'_>, o: &Operands, d: i64, reverse: bool) -> Result<Recurrent> {
    let b = ctx.b();
    let input = compose::select(b, o.w, 0, d)?;
    let recurrent = compose::select(b, o.r, 0, d)?;
    let rows = b.shape(input)[0].clone();
    let (mut input_bias, mut recurrent_bias) = (None, None);
    if let Some(bias) = o.bias {
        let both = compose::select(b, bias, 0, d)?;
        input_bias = Some(compose::slice_axis(b, both, 0, &scalar::Sym::ZERO, &rows, 1)?);
        recurrent_bias = Some(compose::slice_axis(b, both, 0, &rows, &rows, 1)?);
    }
    let weights = Weights { input, recurrent, input_bias, recurrent_bias };
    let states = o.states.iter().map(|s| s.map(|s| compose::select(b, s, 0, d)).transpose()).collect::<Result<Vec<_>>>()?;
    let linear_before_reset = n.flag("linear_before_reset", false);
    let layer = Layer { gates: Gates::Onnx, reverse, linear_before_reset, lengths: o.lengths };
    match n.op() {
        "LSTM" => compose::lstm(b, o.x, states[0], states[1], &weights, &layer),
        "GRU" => compose::gru(b, o.x, states[0], &weights, &layer),
        _ => compose::rnn(b, o.x, states[0], &weights, cell(n, d)?, &layer),
    }
}

fn cell(n: &Node<'_>, d: i64) -> Result<Cell> {
    match n.strings("activations").get(d as usize).copied().unwrap_or("Tanh") {
        "Tanh" => Ok(Cell::Tanh),
        "Relu" => Ok(Cell::Relu),
        other => Err(Error::unsupported(format!("activation {other}"))),
    }
}
