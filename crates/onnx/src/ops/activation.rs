//! Activations, each by its formula in the ONNX specification.

use base::{Error, Result};
use graph::{Builder, NodeId, compose};
use scalar::{ScalarOp as S, Sym};

use super::{Out, one};
use crate::ctx::Ctx;
use crate::node::{Node, axis};

/// Activations of one operand.
pub(super) fn pointwise(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let float = |name: &str, default: f32| f64::from(n.float(name, default));
    let y = match n.op() {
        "Relu" => compose::relu(ctx.b(), x)?,
        "LeakyRelu" => compose::leaky_relu(ctx.b(), x, float("alpha", 0.01))?,
        "HardSigmoid" => compose::hardsigmoid(ctx.b(), x, float("alpha", 0.2), float("beta", 0.5))?,
        "HardSwish" => compose::hardswish(ctx.b(), x)?,
        "Elu" => compose::elu(ctx.b(), x, float("alpha", 1.0))?,
        "Selu" => {
            let y = compose::elu(ctx.b(), x, float("alpha", 1.673_263_2))?;
            ctx.with(S::Mul, y, float("gamma", 1.050_701))?
        }
        "Celu" => compose::celu(ctx.b(), x, float("alpha", 1.0))?,
        "Gelu" => match n.string("approximate", "none") {
            "none" => compose::gelu(ctx.b(), x)?,
            "tanh" => compose::gelu_tanh(ctx.b(), x)?,
            other => return Err(Error::parse(format!("approximate '{other}' is neither none nor tanh"))),
        },
        "Mish" => compose::mish(ctx.b(), x)?,
        "Softplus" => compose::softplus(ctx.b(), x, 1.0, 20.0)?,
        "Softsign" => compose::softsign(ctx.b(), x)?,
        "Swish" => {
            let scaled = ctx.with(S::Mul, x, float("alpha", 1.0))?;
            let gate = ctx.un(S::Sigmoid, scaled)?;
            ctx.bin(S::Mul, x, gate)?
        }
        "ThresholdedRelu" => {
            let above = ctx.with(S::Gt, x, float("alpha", 1.0))?;
            let zero = ctx.number_node(ctx.dtype(x), 0.0)?;
            ctx.select(above, x, zero)?
        }
        "Shrink" => shrink(ctx, x, float("lambd", 0.5), float("bias", 0.0))?,
        other => return Err(Error::internal(format!("no activation {other}"))),
    };
    one(y)
}

/// x + bias below −lambd, x − bias above lambd, else 0.
fn shrink(ctx: &mut Ctx, x: NodeId, lambd: f64, bias: f64) -> Result<NodeId> {
    let (below, above) = (ctx.with(S::Lt, x, -lambd)?, ctx.with(S::Gt, x, lambd)?);
    let (up, down) = (ctx.with(S::Add, x, bias)?, ctx.with(S::Sub, x, bias)?);
    let zero = ctx.number_node(ctx.dtype(x), 0.0)?;
    let upper = ctx.select(above, down, zero)?;
    ctx.select(below, up, upper)
}

pub(super) fn prelu(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let (x, slope) = (ctx.node(n.input(0)?)?, ctx.node(n.input(1)?)?);
    let per_channel = n.opset < 7 && ctx.rank(slope) == 1 && !ctx.shape(slope)[0].is_one();
    let slope = if per_channel && ctx.rank(x) > 2 {
        let trailing: Vec<usize> = (1..ctx.rank(x) - 1).collect();
        ctx.unsqueeze(slope, &trailing)?
    } else {
        slope
    };
    let scaled = ctx.bin(S::Mul, slope, x)?;
    let negative = ctx.with(S::Lt, x, 0.0)?;
    one(ctx.select(negative, scaled, x)?)
}

/// Axes of a softmax-like op: one since op set 13, all from `axis` on before.
fn normalised_axes(n: &Node<'_>, rank: usize) -> Result<Vec<usize>> {
    if n.opset >= 13 {
        return Ok(vec![axis(n.int("axis", -1), rank)?]);
    }
    let first = n.int("axis", 1);
    Ok((if first == rank as i64 { rank } else { axis(first, rank)? }..rank).collect())
}

pub(super) fn softmax(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let axes = normalised_axes(n, ctx.rank(x))?;
    let f = if n.op() == "LogSoftmax" { compose::log_softmax } else { compose::softmax };
    one(on_one_axis(ctx, x, &axes, f)?)
}

/// 1 at the first greatest element along the axes, else 0.
pub(super) fn hardmax(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let axes = normalised_axes(n, ctx.rank(x))?;
    one(on_one_axis(ctx, x, &axes, |b, x, axis| {
        let (dtype, shape) = (b.dtype(x), b.shape(x).clone());
        let first = compose::argmax(b, x, axis, false, false)?;
        let hot = compose::one_hot(b, first, &shape[axis], dtype)?;
        let last = shape.len() - 1;
        let perm: Vec<usize> = (0..axis).chain([last]).chain(axis..last).collect();
        b.permute(hot, &perm)
    })?)
}

/// `f` over trailing axes: as one axis, merged and split again where there are several.
fn on_one_axis(
    ctx: &mut Ctx,
    x: NodeId,
    axes: &[usize],
    f: impl FnOnce(&mut Builder, NodeId, usize) -> Result<NodeId>,
) -> Result<NodeId> {
    if let &[axis] = axes {
        return f(ctx.b(), x, axis);
    }
    let shape = ctx.shape(x);
    let first = shape.len() - axes.len();
    let merged: Vec<Sym> = shape[..first].iter().cloned().chain([Sym::product(&shape[first..])]).collect();
    let flat = ctx.b().reshape(x, merged)?;
    let y = f(ctx.b(), flat, first)?;
    ctx.b().reshape(y, shape)
}
