//! Recurrent layers as a loop over the sequence axis.
//!
//! Shapes: x `[T, N, I]`, states `[N, H]`, input weights `[G·H, I]`, recurrent weights `[G·H, H]`, biases `[G·H]`, outputs
//! `[T, N, H]`. The product with the input weights runs once for the whole sequence; a step does the recurrent product.

use base::Result;
use scalar::{DType, ScalarOp as S, Shape, Sym};

use super::activation::one_minus;
use super::broadcast::{bad, binary, broadcast_to, cast, full, where_};
use super::index::{split, unsqueeze};
use super::linear::linear;
use crate::{Builder, Graph, NodeId};

/// Order of the gate blocks in weights and biases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gates {
    /// LSTM i, f, g, o; GRU r, z, n.
    Pytorch,
    /// LSTM i, o, f, c; GRU z, r, h.
    Onnx,
}

/// Weights of one direction of one layer.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// `[G·H, I]`.
    pub input: NodeId,
    /// `[G·H, H]`.
    pub recurrent: NodeId,
    /// `[G·H]`, added to the input product.
    pub input_bias: Option<NodeId>,
    /// `[G·H]`, added to the recurrent product.
    pub recurrent_bias: Option<NodeId>,
}

/// How a layer runs.
#[derive(Clone, Copy, Debug)]
pub struct Layer {
    /// Gate order.
    pub gates: Gates,
    /// From the last step to the first; outputs stay in the order of x.
    pub reverse: bool,
    /// GRU only: multiply the reset gate after the recurrent product (PyTorch always, ONNX `linear_before_reset`).
    pub linear_before_reset: bool,
    /// Steps of each sample, i64 `[N]`: later outputs are 0 and later states stay. Not with `reverse`.
    pub lengths: Option<NodeId>,
}

impl Layer {
    /// Forward with PyTorch's gates.
    pub const PYTORCH: Layer = Layer { gates: Gates::Pytorch, reverse: false, linear_before_reset: true, lengths: None };
}

/// Nonlinearity of [`rnn`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// tanh.
    Tanh,
    /// max(x, 0).
    Relu,
}

/// Outputs `[T, N, H]` and final states.
#[derive(Clone, Debug)]
pub struct Recurrent {
    /// Hidden state after each step.
    pub output: NodeId,
    /// Final states: h, and for an LSTM c.
    pub states: Vec<NodeId>,
}

/// A step: gate inputs of this step, states, recurrent weight, recurrent bias to new states, h first.
type Step<'a> = dyn Fn(&mut Builder, NodeId, &[NodeId], NodeId, Option<NodeId>) -> Result<Vec<NodeId>> + 'a;

/// i·σ-gated cell (Hochreiter & Schmidhuber 1997): c ← σ(f)·c + σ(i)·tanh(g), h ← σ(o)·tanh(c). Missing states are 0.
///
/// # Errors
/// Shapes that do not fit.
pub fn lstm(b: &mut Builder, x: NodeId, h: Option<NodeId>, c: Option<NodeId>, w: &Weights, layer: &Layer) -> Result<Recurrent> {
    let gates = layer.gates;
    run(b, "lstm", x, &[h, c], (w, 4), layer, &move |b, gx, states, r, bias| {
        let gh = linear(b, states[0], r, bias)?;
        let sums = b.map(S::Add, &[gx, gh])?;
        let part = parts(b, sums, 4)?;
        let (i, f, g, o) = match gates {
            Gates::Pytorch => (part[0], part[1], part[2], part[3]),
            Gates::Onnx => (part[0], part[2], part[3], part[1]),
        };
        let (i, f, o) = (b.map(S::Sigmoid, &[i])?, b.map(S::Sigmoid, &[f])?, b.map(S::Sigmoid, &[o])?);
        let g = b.map(S::Tanh, &[g])?;
        let (kept, new) = (b.map(S::Mul, &[f, states[1]])?, b.map(S::Mul, &[i, g])?);
        let c = b.map(S::Add, &[kept, new])?;
        let t = b.map(S::Tanh, &[c])?;
        Ok(vec![b.map(S::Mul, &[o, t])?, c])
    })
}

/// Gated recurrent unit (Cho et al. 2014): h ← (1 − z)·n + z·h, n = tanh(xₙ + r·hₙ) or, without `linear_before_reset`,
/// tanh(xₙ + (r·h)·Rₙᵀ). A missing state is 0.
///
/// # Errors
/// Shapes that do not fit.
pub fn gru(b: &mut Builder, x: NodeId, h: Option<NodeId>, w: &Weights, layer: &Layer) -> Result<Recurrent> {
    let layer = *layer;
    run(b, "gru", x, &[h], (w, 3), &layer, &move |b, gx, states, r, bias| {
        let h = states[0];
        let (r_parts, x_parts) = (parts_of_axis(b, r, 0, 3)?, parts(b, gx, 3)?);
        let biases = bias.map(|v| parts_of_axis(b, v, 0, 3)).transpose()?;
        let bias = |i: usize| biases.as_ref().map(|p| p[i]);
        let (reset, update) = if layer.gates == Gates::Pytorch { (0, 1) } else { (1, 0) };
        let gate = |b: &mut Builder, i: usize| -> Result<NodeId> {
            let gh = linear(b, h, r_parts[i], bias(i))?;
            let sum = b.map(S::Add, &[x_parts[i], gh])?;
            b.map(S::Sigmoid, &[sum])
        };
        let (reset, z) = (gate(b, reset)?, gate(b, update)?);
        let candidate = if layer.linear_before_reset {
            let gh = linear(b, h, r_parts[2], bias(2))?;
            b.map(S::Mul, &[reset, gh])?
        } else {
            let rh = b.map(S::Mul, &[reset, h])?;
            linear(b, rh, r_parts[2], bias(2))?
        };
        let sum = b.map(S::Add, &[x_parts[2], candidate])?;
        let n = b.map(S::Tanh, &[sum])?;
        let rest = one_minus(b, z)?;
        let (new, kept) = (b.map(S::Mul, &[rest, n])?, b.map(S::Mul, &[z, h])?);
        Ok(vec![b.map(S::Add, &[new, kept])?])
    })
}

/// h ← f(x·Wᵀ + h·Rᵀ + biases) with f tanh or relu. A missing state is 0.
///
/// # Errors
/// Shapes that do not fit.
pub fn rnn(b: &mut Builder, x: NodeId, h: Option<NodeId>, w: &Weights, cell: Cell, layer: &Layer) -> Result<Recurrent> {
    run(b, "rnn", x, &[h], (w, 1), layer, &move |b, gx, states, r, bias| {
        let gh = linear(b, states[0], r, bias)?;
        let sum = b.map(S::Add, &[gx, gh])?;
        Ok(vec![match cell {
            Cell::Tanh => b.map(S::Tanh, &[sum])?,
            Cell::Relu => super::activation::relu(b, sum)?,
        }])
    })
}

fn parts(b: &mut Builder, x: NodeId, n: i64) -> Result<Vec<NodeId>> {
    parts_of_axis(b, x, b.shape(x).len() - 1, n)
}

fn parts_of_axis(b: &mut Builder, x: NodeId, axis: usize, n: i64) -> Result<Vec<NodeId>> {
    let each = b.shape(x)[axis].exact_div(&Sym::from(n));
    let each = each.ok_or_else(|| bad(b, "recurrent layer", &[x], format!("axis {axis} does not hold {n} gates")))?;
    split(b, x, axis, &vec![each; n as usize])
}

/// Runs `step` along axis 0 of x.
fn run(
    b: &mut Builder,
    op: &str,
    x: NodeId,
    states: &[Option<NodeId>],
    (w, gates): (&Weights, i64),
    layer: &Layer,
    step: &Step<'_>,
) -> Result<Recurrent> {
    if b.shape(x).len() != 3 || b.shape(w.recurrent).len() != 2 {
        return Err(bad(b, op, &[x, w.recurrent], "needs x [T, N, I] and recurrent weights [G·H, H]"));
    }
    let hidden = b.shape(w.recurrent)[1].clone();
    if b.shape(w.recurrent)[0] != &hidden * gates {
        return Err(bad(b, op, &[x, w.recurrent], format!("recurrent weights need {gates} gates of {hidden} rows")));
    }
    if layer.reverse && layer.lengths.is_some() {
        return Err(base::Error::unsupported(format!("{op}: sequence lengths together with reverse")));
    }
    let state = Shape::from_iter([b.shape(x)[1].clone(), hidden]);
    let zero = scalar::Scalar::zero(b.dtype(x));
    let start = states.iter().map(|s| s.map_or_else(|| full(b, &state, zero), Ok)).collect::<Result<Vec<_>>>()?;
    let gx = linear(b, x, w.input, w.input_bias).map_err(|e| e.context(op.to_owned()))?;
    let gx = if layer.reverse { b.flip(gx, &[0])? } else { gx };
    let captures: Vec<NodeId> = [Some(w.recurrent), w.recurrent_bias, layer.lengths].into_iter().flatten().collect();
    let trip = b.shape(x)[0].clone();
    let body = body(b, op, (&start, gx), (w, layer), step)?;
    let node = b.region_loop(trip, &start, &[gx], &captures, body)?;
    let states = (0..start.len() as u32).map(|i| b.result(node, i)).collect::<Result<Vec<_>>>()?;
    let output = b.result(node, start.len() as u32)?;
    let output = if layer.reverse { b.flip(output, &[0])? } else { output };
    Ok(Recurrent { output, states })
}

/// The body graph of one step.
fn body(
    outer: &Builder,
    op: &str,
    (start, gx): (&[NodeId], NodeId),
    (w, layer): (&Weights, &Layer),
    step: &Step<'_>,
) -> Result<Graph> {
    let mut b = Builder::new(format!("{op}_step"));
    *b.facts_mut() = outer.facts().clone();
    let like =
        |b: &mut Builder, name: &str, id: NodeId, skip: usize| b.input(name, outer.dtype(id), &outer.shape(id)[skip..], false);
    let i = b.input("step", DType::I64, Shape::new(), false)?;
    let names = ["h", "c"];
    let states = start.iter().zip(names).map(|(&s, name)| like(&mut b, name, s, 0)).collect::<Result<Vec<_>>>()?;
    let gx = like(&mut b, "x", gx, 1)?;
    let r = like(&mut b, "r", w.recurrent, 0)?;
    let bias = w.recurrent_bias.map(|v| like(&mut b, "bias", v, 0)).transpose()?;
    let lengths = layer.lengths.map(|v| like(&mut b, "lengths", v, 0)).transpose()?;
    let mut new = step(&mut b, gx, &states, r, bias)?;
    let mut output = new[0];
    if let Some(lengths) = lengths {
        let running = still_running(&mut b, i, lengths, new[0])?;
        for (n, &old) in new.iter_mut().zip(&states) {
            *n = where_(&mut b, running, *n, old)?;
        }
        let zero = super::broadcast::scalar_like(&mut b, output, 0.0)?;
        output = where_(&mut b, running, output, zero)?;
    }
    for (n, name) in new.iter().zip(names) {
        b.output(name, *n)?;
    }
    b.output("y", output)?;
    Ok(b.finish())
}

/// Whether step `i` is before each sample's end, as a view of state shape.
fn still_running(b: &mut Builder, i: NodeId, lengths: NodeId, state: NodeId) -> Result<NodeId> {
    let lengths = cast(b, lengths, DType::I64)?;
    let before = binary(b, S::Lt, i, lengths)?;
    let column = unsqueeze(b, before, &[1])?;
    let shape = b.shape(state).clone();
    broadcast_to(b, column, &shape)
}
