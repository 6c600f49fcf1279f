//! Tensors made of nothing but their type.

use base::Result;
use graph::NodeId;
use scalar::{DType, ScalarOp as S};

use super::Lower;
use super::ctx::{Ctx, Number};

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "aten.full.default" | "aten.full_like.default" | "aten.new_full.default" => |c| filled(c, "fill_value"),
        "aten.scalar_tensor.default" => |c| filled(c, "s"),
        "aten.zeros.default" | "aten.zeros_like.default" | "aten.new_zeros.default" => |c| fill(c, &Number::Int(0)),
        "aten.ones.default" | "aten.ones_like.default" | "aten.new_ones.default" => |c| fill(c, &Number::Int(1)),
        // Contents are unspecified; zeros are as good as any, and the same every time.
        "aten.empty.memory_format" | "aten.empty_like.default" | "aten.new_empty.default" => |c| fill(c, &Number::Int(0)),
        "aten.arange.start_step" | "prims.iota.default" => arange,
        _ => return None,
    })
}

/// Whether an op reads no tensor element, so that making its result anew is cheaper than keeping it.
pub(crate) fn is_creation(target: &str) -> bool {
    lookup(target).is_some()
}

fn filled(c: &mut Ctx<'_>, name: &str) -> Result<Vec<NodeId>> {
    let number = c.number(name)?;
    fill(c, &number)
}

fn fill(c: &mut Ctx<'_>, number: &Number) -> Result<Vec<NodeId>> {
    let (dtype, shape) = (c.dtype()?, c.shape()?);
    let value = c.constant(number, dtype)?;
    Ok(vec![c.expand(value, &shape)?])
}

/// start + i · step, for integers.
fn arange(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (dtype, shape) = (c.dtype()?, c.shape()?);
    if !dtype.is_int() {
        return Err(c.unsupported(format!("dtype {dtype}")));
    }
    let (start, step) = (c.number("start")?, c.number("step")?);
    let index = c.b.iota(shape[0].clone())?;
    let terms = [c.constant(&start, DType::I64)?, c.constant(&step, DType::I64)?];
    let [start, step] = [c.expand(terms[0], &shape)?, c.expand(terms[1], &shape)?];
    let scaled = c.b.map(S::Mul, &[index, step])?;
    let x = c.b.map(S::Add, &[scaled, start])?;
    Ok(vec![c.cast(x, dtype)?])
}
