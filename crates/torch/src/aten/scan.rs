//! Scans along an axis.

use base::Result;
use graph::compose::{self, Running};
use graph::{Builder, NodeId};
use scalar::{Combiner, DType, ScalarOp as S, Shape, Sym};

use super::Lower;
use super::ctx::Ctx;

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "aten.cumsum.default" => |c| running(c, compose::cumsum),
        "aten.cumprod.default" => |c| running(c, compose::cumprod),
        "aten.cummax.default" => |c| extremum(c, Combiner::Max),
        "aten.cummin.default" => |c| extremum(c, Combiner::Min),
        _ => return None,
    })
}

type Scan = fn(&mut Builder, NodeId, usize, Running) -> Result<NodeId>;

/// Running sums and products, rounded once per element; as torch's CPU kernels, in f64 for f32.
fn running(c: &mut Ctx<'_>, scan: Scan) -> Result<Vec<NodeId>> {
    let (x, dtype) = (c.tensor("self")?, c.dtype()?);
    let x = c.cast(x, dtype)?;
    let Some(axis) = c.axis(x, c.int("dim")?)? else { return Ok(vec![x]) };
    let wide = c.cast(x, if dtype == DType::F32 { DType::F64 } else { dtype })?;
    let y = scan(c.b, wide, axis, Running::default())?;
    Ok(vec![c.cast(y, dtype)?])
}

/// Running extremum and the last index that has it, NaN counting as one. The value is that at the index, which matters for
/// signed zeros.
fn extremum(c: &mut Ctx<'_>, combiner: Combiner) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    let shape = c.b.shape(x).clone();
    let Some(axis) = c.axis(x, c.int("dim")?)? else {
        let first = c.b.constant(scalar::Scalar::i64(0))?;
        return Ok(vec![x, first]);
    };
    let best = c.b.scan(combiner, &[x], axis)?;
    let mut takes = c.b.map(S::Eq, &[x, best])?;
    if c.b.dtype(x).is_float() {
        let nan = c.b.map(S::IsNan, &[x])?;
        takes = c.b.map(S::Or, &[takes, nan])?;
    }
    let mut column = Shape::from_elem(Sym::ONE, shape.len());
    column[axis] = shape[axis].clone();
    let position = c.b.iota(shape[axis].clone())?;
    let position = c.reshape(position, &column)?;
    let position = c.expand(position, &shape)?;
    let first = compose::scalar_like(c.b, position, 0.0)?;
    let candidate = c.b.map(S::Select, &[takes, position, first])?;
    let index = c.b.scan(Combiner::Max, &[candidate], axis)?;
    let value = c.b.gather(x, &[index], &[axis])?;
    Ok(vec![value, index])
}
