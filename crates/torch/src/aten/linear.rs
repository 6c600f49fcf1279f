//! Matrix products.

use base::Result;
use graph::{NodeId, compose};
use scalar::{DType, ScalarOp as S};

use super::Lower;
use super::ctx::{Ctx, Number};

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "aten.mm.default" | "aten.bmm.default" => |c| product(c, "self", "mat2"),
        "aten.mv.default" => |c| product(c, "self", "vec"),
        "aten.dot.default" => |c| product(c, "self", "tensor"),
        "aten.vdot.default" => |c| product(c, "self", "other"),
        "aten.addmm.default" => |c| added_product(c, "mat1", "mat2", multiply),
        "aten.addmv.default" => |c| added_product(c, "mat", "vec", multiply),
        "aten.baddbmm.default" => |c| added_product(c, "batch1", "batch2", multiply),
        "aten.addbmm.default" => |c| added_product(c, "batch1", "batch2", multiply_batches),
        _ => return None,
    })
}

/// A product of two nodes, with operands and result in the dtype that it accumulates in.
type Multiply = fn(&mut Ctx<'_>, NodeId, NodeId) -> Result<NodeId>;

fn multiply(c: &mut Ctx<'_>, a: NodeId, b: NodeId) -> Result<NodeId> {
    compose::matmul(c.b, a, b)
}

/// Σ over the batch axis of the products.
fn multiply_batches(c: &mut Ctx<'_>, a: NodeId, b: NodeId) -> Result<NodeId> {
    let acc = c.b.dtype(a);
    c.b.einsum("bik,bkj->ij", a, b, acc)
}

/// The dtype that products of a dtype accumulate in. Integer sums wrap, so that narrow ones may be cut at the end.
fn accumulator(c: &Ctx<'_>, dtype: DType) -> Result<DType> {
    match dtype {
        DType::Bool | DType::U16 | DType::U32 | DType::U64 => Err(c.unsupported(format!("a product of {dtype}"))),
        DType::I8 | DType::U8 | DType::I16 => Ok(DType::I32),
        d => Ok(d.accumulator()),
    }
}

fn product(c: &mut Ctx<'_>, a: &str, b: &str) -> Result<Vec<NodeId>> {
    let (a, b, dtype) = (c.tensor(a)?, c.tensor(b)?, c.dtype()?);
    let acc = accumulator(c, dtype)?;
    if dtype.is_float() {
        return Ok(vec![multiply(c, a, b)?]);
    }
    let (a, b) = (c.cast(a, acc)?, c.cast(b, acc)?);
    let y = multiply(c, a, b)?;
    Ok(vec![c.cast(y, dtype)?])
}

/// beta · self + alpha · (a @ b), rounded once.
fn added_product(c: &mut Ctx<'_>, a: &str, b: &str, multiply: Multiply) -> Result<Vec<NodeId>> {
    let (dtype, shape) = (c.dtype()?, c.shape()?);
    let math = accumulator(c, dtype)?;
    let (a, b) = (c.tensor(a)?, c.tensor(b)?);
    let (a, b) = (c.cast(a, math)?, c.cast(b, math)?);
    let product = multiply(c, a, b)?;
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
    if dtype.is_int() && matches!(factor, Number::Float(_)) {
        return Err(c.unsupported(format!("{by} {factor:?} for integers")));
    }
    let factor = c.constant(&factor, dtype)?;
    let factor = c.expand(factor, &shape)?;
    c.b.map(S::Mul, &[x, factor])
}
