//! Element-wise ops.

use base::Result;
use graph::NodeId;
use scalar::{DType, ScalarOp as S};

use super::Lower;
use super::ctx::{Ctx, Number};
use super::promote::{Value, operands, result_type, value};

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "aten.add.Tensor" | "aten.add.Scalar" => add,
        "aten.sub.Tensor" | "aten.sub.Scalar" => sub,
        "aten.rsub.Scalar" | "aten.rsub.Tensor" => rsub,
        "aten.mul.Tensor" | "aten.mul.Scalar" => |c| arithmetic(c, S::Mul),
        "aten.div.Tensor" | "aten.div.Scalar" => |c| arithmetic(c, S::Div),
        "aten.maximum.default" => |c| arithmetic(c, S::Max),
        "aten.minimum.default" => |c| arithmetic(c, S::Min),
        "aten.eq.Tensor" | "aten.eq.Scalar" => |c| compare(c, S::Eq),
        "aten.ne.Tensor" | "aten.ne.Scalar" => |c| compare(c, S::Ne),
        "aten.lt.Tensor" | "aten.lt.Scalar" => |c| compare(c, S::Lt),
        "aten.le.Tensor" | "aten.le.Scalar" => |c| compare(c, S::Le),
        "aten.gt.Tensor" | "aten.gt.Scalar" => |c| compare(c, S::Gt),
        "aten.ge.Tensor" | "aten.ge.Scalar" => |c| compare(c, S::Ge),
        "aten.where.self" => select,
        "aten.relu.default" => relu,
        "aten.neg.default" => |c| unary(c, S::Neg),
        "aten.abs.default" => |c| unary(c, S::Abs),
        "aten.exp.default" => |c| unary(c, S::Exp),
        "aten.log.default" => |c| unary(c, S::Log),
        "aten.sqrt.default" => |c| unary(c, S::Sqrt),
        "aten.rsqrt.default" => |c| unary(c, S::Rsqrt),
        "aten.reciprocal.default" => |c| unary(c, S::Recip),
        "aten.sin.default" => |c| unary(c, S::Sin),
        "aten.cos.default" => |c| unary(c, S::Cos),
        "aten.tanh.default" => |c| unary(c, S::Tanh),
        "aten.erf.default" => |c| unary(c, S::Erf),
        "aten.sigmoid.default" => |c| unary(c, S::Sigmoid),
        "prims.convert_element_type.default" | "aten._to_copy.default" => convert,
        _ => return None,
    })
}

/// One operand, computed in the result's dtype.
fn unary(c: &mut Ctx<'_>, op: S) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    let dtype = c.dtype()?;
    let x = c.cast(x, dtype)?;
    Ok(vec![c.b.map(op, &[x])?])
}

fn binary_values(c: &Ctx<'_>) -> Result<[Value; 2]> {
    Ok([value(c, "self")?, value(c, "other")?])
}

/// Two operands, computed in the result's dtype.
fn arithmetic(c: &mut Ctx<'_>, op: S) -> Result<Vec<NodeId>> {
    let values = binary_values(c)?;
    let dtype = c.dtype()?;
    let args = operands(c, &values, dtype)?;
    Ok(vec![c.b.map(op, &args)?])
}

/// Two operands, compared in their common dtype.
fn compare(c: &mut Ctx<'_>, op: S) -> Result<Vec<NodeId>> {
    let values = binary_values(c)?;
    let dtype = result_type(c, &values);
    let args = operands(c, &values, dtype)?;
    Ok(vec![c.b.map(op, &args)?])
}

fn add(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let [a, b] = binary_values(c)?;
    scaled(c, S::Add, a, b)
}
fn sub(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let [a, b] = binary_values(c)?;
    scaled(c, S::Sub, a, b)
}
fn rsub(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let [a, b] = binary_values(c)?;
    scaled(c, S::Sub, b, a)
}

/// a ± alpha · b; f16 and bf16 in f32 with one rounding, as torch's kernels do.
fn scaled(c: &mut Ctx<'_>, op: S, a: Value, b: Value) -> Result<Vec<NodeId>> {
    let dtype = c.dtype()?;
    let alpha = c.number("alpha")?;
    let plain = matches!(alpha, Number::Int(1)) || alpha == Number::Float(1.0);
    let math = if plain { dtype } else { dtype.accumulator() };
    let [a, b] = operands(c, &[a, b], math)?[..] else { unreachable!("two operands give two nodes") };
    let b = if plain {
        b
    } else {
        let alpha = c.constant(&alpha, math)?;
        let shape = c.shape()?;
        let alpha = c.expand(alpha, &shape)?;
        c.b.map(S::Mul, &[b, alpha])?
    };
    let sum = c.b.map(op, &[a, b])?;
    Ok(vec![c.cast(sum, dtype)?])
}

fn relu(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let values = [value(c, "self")?, Value::Number(Number::Int(0))];
    let dtype = c.dtype()?;
    let args = operands(c, &values, dtype)?;
    Ok(vec![c.b.map(S::Max, &args)?])
}

fn select(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let shape = c.shape()?;
    let condition = c.tensor("condition")?;
    let condition = c.cast(condition, DType::Bool)?;
    let condition = c.expand(condition, &shape)?;
    let values = [value(c, "self")?, value(c, "other")?];
    let dtype = c.dtype()?;
    let [a, b] = operands(c, &values, dtype)?[..] else { unreachable!("two operands give two nodes") };
    Ok(vec![c.b.map(S::Select, &[condition, a, b])?])
}

fn convert(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let x = c.tensor("self").or_else(|_| c.tensor("a"))?;
    let dtype = c.dtype()?;
    Ok(vec![c.cast(x, dtype)?])
}
