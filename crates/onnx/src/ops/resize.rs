//! `Resize` and `Upsample`.

use base::{Error, Result};
use graph::compose::{self, Coordinates, Filter, Nearest, Target};
use scalar::Sym;

use super::{Out, one};
use crate::ctx::{Ctx, data_dependent};
use crate::node::{Node, axis};
use crate::value::Value;

pub(super) fn resize(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    refuse_variants(n)?;
    let rank = ctx.rank(x);
    let axes: Vec<usize> = match n.ints("axes") {
        Some(list) => list.iter().map(|&a| axis(a, rank)).collect::<Result<Vec<_>>>()?,
        None => (0..rank).collect(),
    };
    let shape = ctx.shape(x);
    let (scales, sizes) = if n.opset >= 11 { (n.maybe(2), n.maybe(3)) } else { (n.maybe(1), None) };
    let present = |v: &&Value| v.host().is_none_or(|h| !h.is_empty());
    let extents: Vec<Sym> = axes.iter().map(|&a| shape[a].clone()).collect();
    let targets = match (sizes.filter(present), scales.filter(present)) {
        (Some(sizes), _) => from_sizes(&axes, &ctx.vector(sizes, "sizes")?)?,
        (None, Some(scales)) => from_scales(&axes, &extents, &factors(scales)?)?,
        (None, None) => return Err(Error::parse("neither scales nor sizes")),
    };
    let default = if n.opset >= 11 { "half_pixel" } else { "asymmetric" };
    let coordinates = coordinates(n.string("coordinate_transformation_mode", default))?;
    let nearest = if n.opset >= 11 { n.string("nearest_mode", "round_prefer_floor") } else { "floor" };
    one(compose::resize(ctx.b(), x, &targets, filter(n, nearest)?, coordinates)?)
}

/// `Upsample`, of op sets 7 to 9.
pub(super) fn upsample(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let shape = ctx.shape(x);
    let axes: Vec<usize> = (0..shape.len()).collect();
    let scales = match n.floats("scales") {
        Some(list) => list.iter().map(|&s| f64::from(s)).collect(),
        None => factors(n.input(1)?)?,
    };
    let targets = from_scales(&axes, &shape, &scales)?;
    one(compose::resize(ctx.b(), x, &targets, filter(n, "floor")?, Coordinates::Asymmetric)?)
}

fn refuse_variants(n: &Node<'_>) -> Result<()> {
    let policy = n.string("keep_aspect_ratio_policy", "stretch");
    let refused = [
        (n.flag("antialias", false), "antialias".to_owned()),
        (n.flag("exclude_outside", false), "exclude_outside".to_owned()),
        (policy != "stretch", format!("keep_aspect_ratio_policy {policy}")),
    ];
    match refused.into_iter().find(|(on, _)| *on) {
        Some((_, what)) => Err(Error::unsupported(what)),
        None => Ok(()),
    }
}

fn coordinates(mode: &str) -> Result<Coordinates> {
    Ok(match mode {
        "half_pixel" => Coordinates::HalfPixel,
        "pytorch_half_pixel" => Coordinates::PytorchHalfPixel,
        "align_corners" => Coordinates::AlignCorners,
        "asymmetric" => Coordinates::Asymmetric,
        other => return Err(Error::unsupported(format!("coordinate_transformation_mode {other}"))),
    })
}

fn filter(n: &Node<'_>, nearest: &str) -> Result<Filter> {
    Ok(match n.string("mode", "nearest") {
        "nearest" => Filter::Nearest(match nearest {
            "round_prefer_floor" => Nearest::RoundPreferFloor,
            "round_prefer_ceil" => Nearest::RoundPreferCeil,
            "floor" => Nearest::Floor,
            "ceil" => Nearest::Ceil,
            other => return Err(Error::parse(format!("nearest_mode '{other}'"))),
        }),
        "linear" | "bilinear" => Filter::Linear,
        "cubic" => Filter::Cubic { a: f64::from(n.float("cubic_coeff_a", -0.75)) },
        other => return Err(Error::parse(format!("mode '{other}'"))),
    })
}

fn factors(scales: &Value) -> Result<Vec<f64>> {
    Ok(scales.host().ok_or_else(|| data_dependent("scales"))?.to_f64s())
}

fn from_sizes(axes: &[usize], sizes: &[Sym]) -> Result<Vec<Target>> {
    check_count(axes, sizes.len())?;
    Ok(axes.iter().zip(sizes).map(|(&axis, size)| Target { axis, size: size.clone(), scale: None }).collect())
}

fn from_scales(axes: &[usize], extents: &[Sym], scales: &[f64]) -> Result<Vec<Target>> {
    check_count(axes, scales.len())?;
    let target =
        |((&axis, extent), &scale): ((&usize, &Sym), &f64)| Ok(Target { axis, size: scaled(extent, scale)?, scale: Some(scale) });
    axes.iter().zip(extents).zip(scales).map(target).collect()
}

fn check_count(axes: &[usize], have: usize) -> Result<()> {
    if have == axes.len() { Ok(()) } else { Err(Error::parse(format!("{have} scales or sizes for {} axes", axes.len()))) }
}

/// ⌊extent · scale⌋; for a symbolic extent the scale must be a ratio of small integers.
fn scaled(extent: &Sym, scale: f64) -> Result<Sym> {
    let in_range = (1e-6..=1e6).contains(&scale);
    if let (true, Some(n)) = (in_range, extent.as_int()) {
        return Ok(Sym::from((n as f64 * scale).floor() as i64));
    }
    let ratio = |q: i64| {
        let p = (scale * q as f64).round();
        ((p / q as f64) as f32 == scale as f32).then_some((p as i64, q))
    };
    match (1..=64).find_map(ratio) {
        Some((p, q)) if in_range => Ok((extent * &Sym::from(p)).floor_div(&Sym::from(q))),
        _ => Err(Error::unsupported(format!("scale {scale} of extent {extent}"))),
    }
}
