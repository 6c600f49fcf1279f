//! The variants of `Resize` that are not plain interpolation of neighbours, as a matrix per axis: antialiasing, taps excluded
//! outside, crops, and coordinates from a scale that is not a ratio of extents. Extents must be known at import.

use base::{Error, Result};
use graph::NodeId;

use super::signal::along;
use crate::ctx::Ctx;
use crate::node::Node;

/// Most elements of an axis's matrix.
const LARGEST: usize = 1 << 24;

/// How every axis is resampled.
pub(super) struct Rule<'a> {
    mode: &'a str,
    nearest: &'a str,
    coordinates: &'a str,
    cubic: f64,
    antialias: bool,
    exclude_outside: bool,
    extrapolation: f64,
}

/// One axis: extents, output over input size, and the part of the input that is shown.
pub(super) struct Axis {
    pub(super) at: usize,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) scale: f64,
    pub(super) crop: (f64, f64),
}

impl<'a> Rule<'a> {
    pub(super) fn new(n: &Node<'a>) -> Rule<'a> {
        Rule {
            mode: n.string("mode", "nearest"),
            nearest: n.string("nearest_mode", "round_prefer_floor"),
            coordinates: n.string("coordinate_transformation_mode", "half_pixel"),
            cubic: f64::from(n.float("cubic_coeff_a", -0.75)),
            antialias: n.flag("antialias", false),
            exclude_outside: n.flag("exclude_outside", false),
            extrapolation: f64::from(n.float("extrapolation_value", 0.0)),
        }
    }

    /// Resamples axes one after the other, the last first.
    pub(super) fn apply(&self, ctx: &mut Ctx, x: NodeId, axes: &[Axis]) -> Result<NodeId> {
        let mut y = x;
        for axis in axes.iter().rev().filter(|a| a.from != a.to || a.scale != 1.0 || self.coordinates == "tf_crop_and_resize") {
            if axis.from == 0 || axis.from.saturating_mul(axis.to) > LARGEST {
                return Err(Error::unsupported(format!("this variant from {} to {} elements", axis.from, axis.to)));
            }
            let rows = (0..axis.to).map(|o| self.row(axis, o)).collect::<Result<Vec<_>>>()?;
            let matrix: Vec<f64> = rows.iter().flat_map(|r| r.clone().unwrap_or_else(|| vec![0.0; axis.from])).collect();
            y = along(ctx, y, axis.at, &matrix, axis.to)?;
            if rows.iter().any(Option::is_none) {
                y = self.extrapolate(ctx, y, axis, &rows)?;
            }
        }
        Ok(y)
    }

    fn extrapolate(&self, ctx: &mut Ctx, y: NodeId, axis: &Axis, rows: &[Option<Vec<f64>>]) -> Result<NodeId> {
        let outside: Vec<i64> = rows.iter().map(|r| i64::from(r.is_none())).collect();
        let data = graph::HostTensor::from_i64s(scalar::DType::Bool, &[rows.len()], &outside);
        let flags = ctx.node(&crate::value::Value::constant("outside", data))?;
        let trailing: Vec<usize> = (1..ctx.rank(y) - axis.at).collect();
        let flags = ctx.unsqueeze(flags, &trailing)?;
        let value = ctx.number_node(ctx.dtype(y), self.extrapolation)?;
        ctx.select(flags, value, y)
    }

    /// Weights of the input elements for one output element; none for one outside of a crop.
    fn row(&self, axis: &Axis, o: usize) -> Result<Option<Vec<f64>>> {
        let Some(at) = self.coordinate(axis, o)? else { return Ok(None) };
        let scale = if self.antialias { axis.scale.min(1.0) } else { 1.0 };
        let taps = self.taps(at, scale)?;
        let mut row = vec![0.0; axis.from];
        let last = axis.from as i64 - 1;
        for (place, weight) in taps {
            if (0..=last).contains(&place) || !self.exclude_outside {
                row[place.clamp(0, last) as usize] += weight;
            }
        }
        let total: f64 = row.iter().sum();
        if self.exclude_outside || self.antialias {
            row.iter_mut().for_each(|w| *w /= total);
        }
        Ok(Some(row))
    }

    fn coordinate(&self, axis: &Axis, o: usize) -> Result<Option<f64>> {
        let (o, n, scale) = (o as f64, axis.from as f64, axis.scale);
        let wide = scale * n;
        let half = (o + 0.5) / scale - 0.5;
        Ok(Some(match self.coordinates {
            "half_pixel" => half,
            "pytorch_half_pixel" if wide == 1.0 => -0.5,
            "pytorch_half_pixel" => half,
            "half_pixel_symmetric" => n / 2.0 * (1.0 - axis.to as f64 / wide) + half,
            "asymmetric" => o / scale,
            "align_corners" if wide == 1.0 => 0.0,
            "align_corners" => o * (n - 1.0) / (wide - 1.0),
            "tf_crop_and_resize" => {
                let (start, end) = axis.crop;
                let m = axis.to as f64;
                let along = if m == 1.0 { (end - start) / 2.0 } else { o * (end - start) / (m - 1.0) };
                let at = (along + start) * (n - 1.0);
                if !(0.0..=n - 1.0).contains(&at) {
                    return Ok(None);
                }
                at
            }
            other => return Err(Error::unsupported(format!("coordinate_transformation_mode {other}"))),
        }))
    }

    /// Places and weights around a coordinate; `scale` below 1 widens the filter.
    fn taps(&self, at: f64, scale: f64) -> Result<Vec<(i64, f64)>> {
        let linear = matches!(self.mode, "linear" | "bilinear");
        match self.mode {
            "nearest" => return Ok(vec![(self.round(at)?, 1.0)]),
            "linear" | "bilinear" | "cubic" => {}
            other => return Err(Error::parse(format!("mode '{other}'"))),
        }
        let weight = |distance: f64| if linear { (1.0 - distance).max(0.0) } else { keys(distance, self.cubic) };
        let width = if linear { 1.0 } else { 2.0 };
        let reach = width / scale;
        let (first, last) = ((at - reach).ceil() as i64, (at + reach).floor() as i64);
        let taps = (first..=last).map(|i| (i, weight(((i as f64) - at).abs() * scale)));
        Ok(taps.filter(|(_, w)| *w != 0.0).collect())
    }

    fn round(&self, at: f64) -> Result<i64> {
        Ok(match self.nearest {
            "floor" => at.floor(),
            "ceil" => at.ceil(),
            "round_prefer_floor" => (at - 0.5).ceil(),
            "round_prefer_ceil" => (at + 0.5).floor(),
            other => return Err(Error::parse(format!("nearest_mode '{other}'"))),
        } as i64)
    }
}

/// Keys' cubic (1981) with coefficient `a` at a distance.
fn keys(d: f64, a: f64) -> f64 {
    match d {
        d if d <= 1.0 => ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0,
        d if d < 2.0 => ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a,
        _ => 0.0,
    }
}

/// Integers cannot be weighed.
pub(super) fn needs_float(ctx: &Ctx, x: NodeId, mode: &str) -> Result<()> {
    if mode == "nearest" || ctx.dtype(x).is_float() {
        return Ok(());
    }
    Err(Error::unsupported(format!("interpolation of {}; cast first", ctx.dtype(x))))
}
