//! Type promotion as torch does it: by category first, then by dimensionality, then by width.

use base::Result;
use graph::{NodeId, compose};
use scalar::{DType, Shape};

use super::ctx::{Ctx, Number};

/// An operand of an element-wise op.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Tensor(NodeId),
    Number(Number),
}

/// The dtype torch computes in for these operands (`torch.result_type`): tensors with axes, then 0-d tensors, then numbers; a
/// lower group counts only when its category is higher.
pub(super) fn result_type(c: &Ctx<'_>, values: &[Value]) -> DType {
    let mut groups: [Option<DType>; 3] = [None; 3];
    for value in values {
        let (group, dtype) = match value {
            Value::Tensor(t) => (if c.rank(*t) > 0 { 0 } else { 1 }, c.b.dtype(*t)),
            Value::Number(Number::Bool(_)) => (2, DType::Bool),
            Value::Number(Number::Int(_) | Number::Sym(_)) => (2, DType::I64),
            Value::Number(Number::Float(_)) => (2, DType::F32),
        };
        groups[group] = Some(groups[group].map_or(dtype, |d| d.promote(dtype)));
    }
    compose::promote_groups(groups)
}

/// The operand of that name: a tensor, or a number.
pub(super) fn value(c: &Ctx<'_>, name: &str) -> Result<Value> {
    match c.tensor(name) {
        Ok(t) => Ok(Value::Tensor(t)),
        Err(_) => Ok(Value::Number(c.number(name)?)),
    }
}

/// Operands in one dtype and of the result's shape.
pub(super) fn operands(c: &mut Ctx<'_>, values: &[Value], dtype: DType) -> Result<Vec<NodeId>> {
    let shape = c.shape()?;
    values.iter().map(|v| operand(c, v, dtype, &shape)).collect()
}

/// One operand in a dtype and shape.
pub(super) fn operand(c: &mut Ctx<'_>, value: &Value, dtype: DType, shape: &Shape) -> Result<NodeId> {
    let x = match value {
        Value::Tensor(t) => c.cast(*t, dtype)?,
        Value::Number(n) => c.constant(n, dtype)?,
    };
    compose::broadcast_to(c.b, x, shape)
}
