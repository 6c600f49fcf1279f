//! Tensors made of nothing but their type.

use base::Result;
use graph::NodeId;
use scalar::{DType, ScalarOp as S};

use super::Lower;
use super::ctx::{Ctx, Number};
use crate::layout::{Layout, dense_order};

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "aten.full.default" | "aten.full_like.default" | "aten.new_full.default" => |c| filled(c, "fill_value"),
        "aten.scalar_tensor.default" => |c| filled(c, "s"),
        "aten.zeros.default" | "aten.zeros_like.default" | "aten.new_zeros.default" => |c| fill(c, &Number::Int(0)),
        "aten.ones.default" | "aten.ones_like.default" | "aten.new_ones.default" => |c| fill(c, &Number::Int(1)),
        // Contents are unspecified; zeros are as good as any, and the same every time.
        "aten.empty.memory_format" | "aten.empty_like.default" | "aten.new_empty.default" => |c| fill(c, &Number::Int(0)),
        "aten.empty_permuted.default" => |c| fill(c, &Number::Int(0)),
        "aten.empty_strided.default" | "aten.new_empty_strided.default" => strided,
        "aten.arange.start_step" => arange,
        "prims.iota.default" => iota,
        _ => return None,
    })
}

/// Whether an op reads no tensor element, so that making its result anew is cheaper than keeping it.
pub(crate) fn is_creation(target: &str) -> bool {
    lookup(target).is_some()
}

/// Filled with a number that the dtype holds; torch says what is wrong with another.
fn filled(c: &mut Ctx<'_>, name: &str) -> Result<Vec<NodeId>> {
    let (number, dtype) = (c.number(name)?, c.dtype()?);
    let holds = match number {
        Number::Int(v) if dtype.is_int() => c.scalar(&number, dtype)?.as_i64() == v,
        Number::Float(v) if dtype.is_int() => v.is_finite() && c.scalar(&number, dtype)?.as_f64() == v.trunc(),
        Number::Float(v) if dtype.is_float() => !v.is_finite() || c.scalar(&number, dtype)?.as_f64().is_finite(),
        _ => true,
    };
    if holds { fill(c, &number) } else { Err(c.unsupported(format!("{number:?} as {dtype}"))) }
}

fn fill(c: &mut Ctx<'_>, number: &Number) -> Result<Vec<NodeId>> {
    let (dtype, shape) = (c.dtype()?, c.shape()?);
    let value = c.constant(number, dtype)?;
    Ok(vec![c.expand(value, &shape)?])
}

/// Memory without gaps or overlaps.
fn strided(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let layout = Layout { shape: c.shape()?, strides: c.syms("stride")?.into() };
    if dense_order(&layout).is_none() { Err(c.unsupported("strides with gaps or overlaps")) } else { fill(c, &Number::Int(0)) }
}

/// start + i · step in a dtype, for a vector of the result's length.
fn ramp(c: &mut Ctx<'_>, start: &Number, step: &Number, dtype: DType) -> Result<NodeId> {
    let shape = c.shape()?;
    let index = c.b.iota(shape[0].clone())?;
    let index = c.cast(index, dtype)?;
    let terms = [c.constant(start, dtype)?, c.constant(step, dtype)?];
    let [start, step] = [c.expand(terms[0], &shape)?, c.expand(terms[1], &shape)?];
    let scaled = c.b.map(S::Mul, &[index, step])?;
    c.b.map(S::Add, &[scaled, start])
}

fn iota(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (start, step, dtype) = (c.number("start")?, c.number("step")?, c.dtype()?);
    if !dtype.is_int() {
        return Err(c.unsupported(format!("dtype {dtype}")));
    }
    let x = ramp(c, &start, &step, DType::I64)?;
    Ok(vec![c.cast(x, dtype)?])
}

/// Integers, and floats where every number is exact: torch's kernels add steps in blocks, so that others depend on the width of
/// the machine's vectors.
fn arange(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (start, step, dtype) = (c.number("start")?, c.number("step")?, c.dtype()?);
    if dtype.is_int() {
        let x = ramp(c, &start, &step, DType::I64)?;
        return Ok(vec![c.cast(x, dtype)?]);
    }
    if !is_exact(c, &start, &step, dtype)? {
        return Err(c.unsupported(format!("steps that {dtype} has to round")));
    }
    let x = ramp(c, &start, &step, DType::F64)?;
    Ok(vec![c.cast(x, dtype)?])
}

/// Whether start + i · step needs no rounding in a float dtype. Sums of multiples of 1/1024 do not, up to the dtype's precision.
fn is_exact(c: &Ctx<'_>, start: &Number, step: &Number, dtype: DType) -> Result<bool> {
    const GRAIN: f64 = 1024.0;
    let value = |n: &Number| match n {
        Number::Int(v) => Some(*v as f64),
        Number::Float(v) => Some(*v),
        _ => None,
    };
    let (Some(start), Some(step), Some(digits)) = (value(start), value(step), dtype.significand()) else { return Ok(false) };
    let grain = if start.fract() == 0.0 && step.fract() == 0.0 { 1.0 } else { GRAIN };
    let whole = |v: f64| (v * grain).fract() == 0.0;
    // A length without a bound counts as below 2²⁴.
    let most = c.b.facts().max_of(&c.shape()?[0]).unwrap_or(1 << 23);
    let last = (start.abs() + step.abs() * most as f64) * grain;
    Ok(whole(start) && whole(step) && last < 2f64.powi(digits as i32))
}
