//! `Resize` and `Upsample`.

use base::{Error, Result};
use graph::NodeId;
use graph::compose::{self, Coordinates, Filter, Nearest, Target};
use scalar::Sym;

use super::{Out, one, resample};
use crate::ctx::{Ctx, data_dependent};
use crate::node::{Node, axis};
use crate::value::Value;

pub(super) fn resize(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
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
    if is_variant(n, &extents, &targets) {
        return variant(ctx, n, x, &extents, &targets);
    }
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

/// Whether a node asks for more than [`compose::resize`] does.
fn is_variant(n: &Node<'_>, extents: &[Sym], targets: &[Target]) -> bool {
    let coordinates = n.string("coordinate_transformation_mode", "half_pixel");
    let inexact = |(n, t): (&Sym, &Target)| {
        t.scale.zip(n.as_int()).zip(t.size.as_int()).is_some_and(|((s, n), m)| s * n as f64 != m as f64)
    };
    n.flag("antialias", false)
        || n.flag("exclude_outside", false)
        || n.string("keep_aspect_ratio_policy", "stretch") != "stretch"
        || matches!(coordinates, "tf_crop_and_resize" | "half_pixel_symmetric")
        || (coordinates == "align_corners" && extents.iter().zip(targets).any(inexact))
}

/// Resizing by a matrix per axis.
fn variant(ctx: &mut Ctx, n: &Node<'_>, x: NodeId, extents: &[Sym], targets: &[Target]) -> Out {
    let rule = resample::Rule::new(n);
    resample::needs_float(ctx, x, n.string("mode", "nearest"))?;
    let number = |s: &Sym| s.as_int().and_then(|v| usize::try_from(v).ok());
    let known = |s: &Sym| number(s).ok_or_else(|| Error::unsupported("this variant for dynamic extents"));
    let from = extents.iter().map(known).collect::<Result<Vec<_>>>()?;
    let mut to = targets.iter().map(|t| known(&t.size)).collect::<Result<Vec<_>>>()?;
    let ratio = |i: usize| targets[i].scale.unwrap_or(to[i] as f64 / from[i] as f64);
    let mut scales: Vec<f64> = (0..from.len()).map(ratio).collect();
    let common = match n.string("keep_aspect_ratio_policy", "stretch") {
        "not_larger" => scales.iter().copied().reduce(f64::min),
        "not_smaller" => scales.iter().copied().reduce(f64::max),
        _ => None,
    };
    if let Some(scale) = common {
        scales = vec![scale; from.len()];
        to = from.iter().map(|&n| (scale * n as f64 + 0.5).floor() as usize).collect();
    }
    let crop = match n.string("coordinate_transformation_mode", "half_pixel") {
        "tf_crop_and_resize" => n.input(1)?.host().ok_or_else(|| data_dependent("roi"))?.to_f64s(),
        _ => [vec![0.0; from.len()], vec![1.0; from.len()]].concat(),
    };
    if crop.len() != 2 * from.len() {
        return Err(Error::parse(format!("roi has {} numbers for {} axes", crop.len(), from.len())));
    }
    let axis = |i: usize| resample::Axis {
        at: targets[i].axis,
        from: from[i],
        to: to[i],
        scale: scales[i],
        crop: (crop[i], crop[from.len() + i]),
    };
    let mut axes: Vec<resample::Axis> = (0..from.len()).map(axis).collect();
    axes.sort_by_key(|a| a.at);
    one(rule.apply(ctx, x, &axes)?)
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
