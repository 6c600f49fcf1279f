//! Matrix products.

use base::Result;
use graph::{NodeId, compose};
use scalar::ScalarOp as S;

use super::Lower;
use super::ctx::{Ctx, Number};

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "aten.mm.default" | "aten.bmm.default" => |c| product(c, "self", "mat2"),
        "aten.addmm.default" => |c| added_product(c, "mat1", "mat2"),
        "aten.baddbmm.default" => |c| added_product(c, "batch1", "batch2"),
        _ => return None,
    })
}

/// Products of floating-point matrices.
fn product(c: &mut Ctx<'_>, a: &str, b: &str) -> Result<Vec<NodeId>> {
    let (a, b) = (c.tensor(a)?, c.tensor(b)?);
    if !c.dtype()?.is_float() {
        return Err(c.unsupported(format!("a product of {}", c.dtype()?)));
    }
    Ok(vec![compose::matmul(c.b, a, b)?])
}

/// beta · self + alpha · (a @ b).
fn added_product(c: &mut Ctx<'_>, a: &str, b: &str) -> Result<Vec<NodeId>> {
    let (dtype, shape) = (c.dtype()?, c.shape()?);
    let math = dtype.accumulator();
    let (a, b) = (c.tensor(a)?, c.tensor(b)?);
    let (a, b) = (c.cast(a, math)?, c.cast(b, math)?);
    let product = compose::matmul(c.b, a, b)?;
    let product = scaled(c, product, "alpha")?;
    let (beta, bias) = (c.number("beta")?, c.tensor("self")?);
    // A factor of zero ignores the addend, NaN and all.
    if beta == Number::Int(0) || beta == Number::Float(0.0) {
        return Ok(vec![c.cast(product, dtype)?]);
    }
    let bias = c.cast(bias, math)?;
    let bias = c.expand(bias, &shape)?;
    let bias = scaled(c, bias, "beta")?;
    let sum = c.b.map(S::Add, &[product, bias])?;
    Ok(vec![c.cast(sum, dtype)?])
}

fn scaled(c: &mut Ctx<'_>, x: NodeId, by: &str) -> Result<NodeId> {
    let factor = c.number(by)?;
    if factor == Number::Int(1) || factor == Number::Float(1.0) {
        return Ok(x);
    }
    let (dtype, shape) = (c.b.dtype(x), c.b.shape(x).clone());
    let factor = c.constant(&factor, dtype)?;
    let factor = c.expand(factor, &shape)?;
    c.b.map(S::Mul, &[x, factor])
}
