//! Reductions.

use base::Result;
use graph::{NodeId, compose};

use super::Lower;
use super::ctx::Ctx;

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "aten.sum.dim_IntList" | "aten.sum.default" => sum,
        "aten.mean.dim" | "aten.mean.default" => mean,
        "aten.amax.default" => |c| extremum(c, compose::max),
        "aten.amin.default" => |c| extremum(c, compose::min),
        _ => return None,
    })
}

fn sum(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    let (axes, keep) = (c.axes(x, "dim")?, c.flag("keepdim")?);
    let dtype = c.dtype()?;
    let x = c.cast(x, dtype)?;
    Ok(vec![compose::sum(c.b, x, &axes, keep)?])
}

fn mean(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    let (axes, keep) = (c.axes(x, "dim")?, c.flag("keepdim")?);
    let dtype = c.dtype()?;
    let x = c.cast(x, dtype)?;
    Ok(vec![compose::mean(c.b, x, &axes, keep)?])
}

fn extremum(c: &mut Ctx<'_>, f: fn(&mut graph::Builder, NodeId, &[usize], bool) -> Result<NodeId>) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    let (axes, keep) = (c.axes(x, "dim")?, c.flag("keepdim")?);
    Ok(vec![f(c.b, x, &axes, keep)?])
}
