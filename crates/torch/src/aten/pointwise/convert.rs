//! Conversion of element types.

use scalar::Scalar;

use super::*;

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "prims.convert_element_type.default" => |c| convert(c, "a"),
        "aten._to_copy.default" => |c| convert(c, "self"),
        _ => return None,
    })
}

fn convert(c: &mut Ctx<'_>, name: &str) -> Result<Vec<NodeId>> {
    let (x, to) = (c.tensor(name)?, c.dtype()?);
    if !c.b.dtype(x).is_float() || !to.is_int() {
        return Ok(vec![c.cast(x, to)?]);
    }
    Ok(vec![float_to_int(c, x, to)?])
}

/// Truncates; a value that the intermediate integer cannot hold, and NaN, become its least value, as x86 converts. The
/// intermediate of narrow integers is i32, that of u8 i64.
fn float_to_int(c: &mut Ctx<'_>, x: NodeId, to: DType) -> Result<NodeId> {
    let (through, end, least) = match to {
        DType::I8 | DType::I16 | DType::I32 => (DType::I32, 2f64.powi(31), i64::from(i32::MIN)),
        DType::U8 | DType::I64 => (DType::I64, 2f64.powi(63), i64::MIN),
        _ => return Err(c.unsupported(format!("{} to {to}", c.b.dtype(x)))),
    };
    let math = c.b.dtype(x).accumulator();
    let x = c.cast(x, math)?;
    let whole = c.b.map(S::Cast(through), &[x])?;
    let inside = with(c, S::Lt, x, end)?;
    let shape = c.b.shape(x).clone();
    let least = compose::full(c.b, &shape, Scalar::from_i64(through, least))?;
    let whole = c.b.map(S::Select, &[inside, whole, least])?;
    c.cast(whole, to)
}
