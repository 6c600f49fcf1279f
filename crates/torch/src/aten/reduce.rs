//! Reductions.

use base::Result;
use graph::{Builder, NodeId, compose};
use scalar::{Combiner, Sym};

use super::Lower;
use super::ctx::{Ctx, Number};

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "aten.sum.default" | "aten.sum.dim_IntList" => |c| converted(c, compose::sum),
        "aten.prod.default" | "aten.prod.dim_int" => |c| converted(c, compose::prod),
        "aten.mean.default" | "aten.mean.dim" => mean,
        "aten.amax.default" | "aten.max.default" => |c| of_something(c, compose::max),
        "aten.amin.default" | "aten.min.default" => |c| of_something(c, compose::min),
        "aten.any.default" | "aten.any.dim" | "aten.any.dims" => |c| truth(c, compose::any),
        "aten.all.default" | "aten.all.dim" | "aten.all.dims" => |c| truth(c, compose::all),
        "aten.max.dim" => |c| extremum(c, Combiner::ArgMax),
        "aten.min.dim" => |c| extremum(c, Combiner::ArgMin),
        "aten.argmax.default" => |c| position(c, Combiner::ArgMax),
        "aten.argmin.default" => |c| position(c, Combiner::ArgMin),
        "aten.logsumexp.default" => |c| converted(c, compose::logsumexp),
        "aten.var.correction" => |c| Ok(vec![var(c)?]),
        "aten.var_mean.correction" => |c| Ok(vec![var(c)?, plain(c, compose::mean)?[0]]),
        _ => return None,
    })
}

/// A reduction of a tensor over ascending axes, which stay with extent 1 on demand.
type Reduce = fn(&mut Builder, NodeId, &[usize], bool) -> Result<NodeId>;

/// Over the axes of `dim`, in the operand's dtype.
fn plain(c: &mut Ctx<'_>, reduce: Reduce) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    let (axes, keep) = (c.axes(x, "dim")?, c.flag("keepdim")?);
    Ok(vec![reduce(c.b, x, &axes, keep)?])
}

/// As [`plain`], of at least one element.
fn of_something(c: &mut Ctx<'_>, reduce: Reduce) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    let axes = c.axes(x, "dim")?;
    refuse_nothing(c, x, &axes)?;
    plain(c, reduce)
}

/// Refuses axes without elements: torch raises an error of its own.
fn refuse_nothing(c: &Ctx<'_>, x: NodeId, axes: &[usize]) -> Result<()> {
    if axes.iter().any(|&a| c.b.shape(x)[a].is_zero()) {
        return Err(c.unsupported("the extremum of nothing"));
    }
    Ok(())
}

/// Elements in the result's dtype, then reduced.
fn converted(c: &mut Ctx<'_>, reduce: Reduce) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    let (axes, keep, dtype) = (c.axes(x, "dim")?, c.flag("keepdim")?, c.dtype()?);
    let x = c.cast(x, dtype)?;
    let y = reduce(c.b, x, &axes, keep)?;
    Ok(vec![c.cast(y, dtype)?])
}

/// Sums in f32 for halves, whatever the operand.
fn mean(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    let (axes, keep, dtype) = (c.axes(x, "dim")?, c.flag("keepdim")?, c.dtype()?);
    let x = c.cast(x, dtype.accumulator())?;
    let y = compose::mean(c.b, x, &axes, keep)?;
    Ok(vec![c.cast(y, dtype)?])
}

/// Truth of elements; bytes give bytes.
fn truth(c: &mut Ctx<'_>, reduce: Reduce) -> Result<Vec<NodeId>> {
    let y = plain(c, reduce)?[0];
    let dtype = c.dtype()?;
    Ok(vec![c.cast(y, dtype)?])
}

/// Value and first index along an axis; NaN wins. A 0-d operand counts as one element.
fn along(c: &mut Ctx<'_>, x: NodeId, axis: Option<usize>, combiner: Combiner) -> Result<[NodeId; 2]> {
    let x = if axis.is_none() { c.b.reshape(x, [Sym::ONE])? } else { x };
    let both = c.b.reduce(combiner, &[x], &[axis.unwrap_or(0)])?;
    Ok([c.b.result(both, 0)?, c.b.result(both, 1)?])
}

fn extremum(c: &mut Ctx<'_>, combiner: Combiner) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    let axis = c.axis(x, c.int("dim")?)?;
    refuse_nothing(c, x, axis.as_slice())?;
    let both = along(c, x, axis, combiner)?;
    let shapes = c.results().into_iter().map(|t| c.shape_of(t)).collect::<Result<Vec<_>>>()?;
    both.into_iter().zip(&shapes).map(|(y, shape)| c.reshape(y, shape)).collect()
}

/// Index along an axis, or in row-major order when none is given.
fn position(c: &mut Ctx<'_>, combiner: Combiner) -> Result<Vec<NodeId>> {
    let (x, out) = (c.tensor("self")?, c.shape()?);
    let [_, index] = if c.has("dim") {
        let axis = c.axis(x, c.int("dim")?)?;
        refuse_nothing(c, x, axis.as_slice())?;
        along(c, x, axis, combiner)?
    } else {
        let flat = c.b.reshape(x, [Sym::product(c.b.shape(x).clone())])?;
        refuse_nothing(c, flat, &[0])?;
        along(c, flat, Some(0), combiner)?
    };
    Ok(vec![c.reshape(index, &out)?])
}

/// Variance with a whole-number correction; the unbiased estimate when none is given.
fn var(c: &mut Ctx<'_>) -> Result<NodeId> {
    let x = c.tensor("self")?;
    let (axes, keep) = (c.axes(x, "dim")?, c.flag("keepdim")?);
    let correction = match if c.has("correction") { c.number("correction")? } else { Number::Int(1) } {
        Number::Int(n) => n,
        Number::Float(v) if v.fract() == 0.0 && v.abs() < 1e9 => v as i64,
        other => return Err(c.unsupported(format!("a correction of {other:?}"))),
    };
    compose::var(c.b, x, &axes, correction, keep)
}
