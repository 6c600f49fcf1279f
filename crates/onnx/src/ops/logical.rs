//! Selection and conversion.

use base::Error;
use scalar::ScalarOp;

use super::{Out, one};
use crate::ctx::Ctx;
use crate::node::Node;
use crate::tensor;

pub(super) fn choose(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let (c, a, b) = (ctx.node(n.input(0)?)?, ctx.node(n.input(1)?)?, ctx.node(n.input(2)?)?);
    one(ctx.select(c, a, b)?)
}

pub(super) fn cast(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let code = i32::try_from(n.int("to", 0)).map_err(|_| Error::parse("attribute to is out of range"))?;
    let x = ctx.node(n.input(0)?)?;
    one(ctx.cast(x, tensor::dtype(code)?)?)
}

pub(super) fn cast_like(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let dtype = ctx.value_dtype(n.input(1)?);
    let x = ctx.node(n.input(0)?)?;
    one(ctx.cast(x, dtype)?)
}

pub(super) fn bit_cast(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let code = i32::try_from(n.int("to", 0)).map_err(|_| Error::parse("attribute to is out of range"))?;
    let x = ctx.node(n.input(0)?)?;
    one(ctx.un(ScalarOp::Bitcast(tensor::dtype(code)?), x)?)
}
