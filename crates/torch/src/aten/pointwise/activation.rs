//! Activations that are one op for AOTAutograd. f16 and bf16 compute in f32 and round once.

use super::*;

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "aten.leaky_relu.default" => |c| in_accumulator(c, leaky_relu),
        "aten.elu.default" => |c| in_accumulator(c, elu),
        _ => return None,
    })
}

/// A function of `self`.
fn in_accumulator(c: &mut Ctx<'_>, f: fn(&mut Ctx<'_>, NodeId) -> Result<NodeId>) -> Result<Vec<NodeId>> {
    let (x, dtype) = (tensor(c, "self")?, c.dtype()?);
    if !dtype.is_float() {
        return Err(c.unsupported(format!("dtype {dtype}")));
    }
    let x = c.cast(x, dtype.accumulator())?;
    let y = f(c, x)?;
    Ok(vec![c.cast(y, dtype)?])
}

/// x where x > 0, else slope · x.
fn leaky_relu(c: &mut Ctx<'_>, x: NodeId) -> Result<NodeId> {
    let positive = with(c, S::Gt, x, 0.0)?;
    let slope = c.float("negative_slope")?;
    let bent = with(c, S::Mul, x, slope)?;
    c.b.map(S::Select, &[positive, x, bent])
}

/// scale · (alpha · (e^(input_scale · x) − 1) where x < 0, else x).
fn elu(c: &mut Ctx<'_>, x: NodeId) -> Result<NodeId> {
    let (alpha, scale, input_scale) = (c.float("alpha")?, c.float("scale")?, c.float("input_scale")?);
    let below = if c.b.dtype(x) == DType::F64 { alpha * scale } else { f64::from(alpha as f32 * scale as f32) };
    let negative = with(c, S::Lt, x, 0.0)?;
    let inner = with(c, S::Mul, x, input_scale)?;
    let bent = c.b.map(S::Expm1, &[inner])?;
    let bent = with(c, S::Mul, bent, below)?;
    let straight = with(c, S::Mul, x, scale)?;
    c.b.map(S::Select, &[negative, bent, straight])
}
