//! Upsampling that only repeats elements.

use base::Result;
use graph::{NodeId, compose};
use scalar::Sym;

use super::Lower;
use super::ctx::Ctx;

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "aten.upsample_nearest1d.default" | "aten.upsample_nearest1d.vec" => |c| nearest(c, 1),
        "aten.upsample_nearest2d.default" | "aten.upsample_nearest2d.vec" => |c| nearest(c, 2),
        "aten.upsample_nearest3d.default" | "aten.upsample_nearest3d.vec" => |c| nearest(c, 3),
        _ => return None,
    })
}

/// Every element repeated along each of the trailing axes. Torch finds the source of output position o as ⌊o · scale⌋ in
/// floating point; where that is not o / factor, torch computes it.
fn nearest(c: &mut Ctx<'_>, spatial: usize) -> Result<Vec<NodeId>> {
    let (mut x, out) = (c.tensor("self").or_else(|_| c.tensor("input"))?, c.shape()?);
    let first = out.len() - spatial;
    let scales = scales(c, spatial)?;
    for (i, scale) in scales.into_iter().enumerate() {
        let (from, to) = (c.b.shape(x)[first + i].clone(), out[first + i].clone());
        let factor = to.exact_div(&from).and_then(|f| f.as_int());
        match factor {
            Some(1) if scale.is_none_or(|s| s == 1.0) => {}
            Some(k) if k > 1 && repeats(k, &to, scale) => x = compose::repeat_interleave(c.b, x, first + i, &Sym::from(k))?,
            _ => return Err(c.unsupported(format!("{from} to {to} by {scale:?} repeats unevenly"))),
        }
    }
    Ok(vec![x])
}

/// The scale that the user gave for each axis.
fn scales(c: &Ctx<'_>, spatial: usize) -> Result<Vec<Option<f64>>> {
    if c.has("scale_factors") {
        return Ok(c.floats("scale_factors")?.into_iter().flatten().map(Some).collect());
    }
    let names: &[&str] = match spatial {
        1 => &["scales"],
        2 => &["scales_h", "scales_w"],
        _ => &["scales_d", "scales_h", "scales_w"],
    };
    names.iter().map(|name| if c.has(name) { c.float(name).map(Some) } else { Ok(None) }).collect()
}

/// Whether ⌊o · scale⌋ is o / factor for every output position, in f32 and in f64.
fn repeats(factor: i64, to: &Sym, scale: Option<f64>) -> bool {
    let scale = 1.0 / scale.unwrap_or(factor as f64);
    if factor & (factor - 1) == 0 && scale * factor as f64 == 1.0 {
        return true;
    }
    let exact = |o: i64| (o as f32 * scale as f32) as i64 == o / factor && (o as f64 * scale) as i64 == o / factor;
    to.as_int().is_some_and(|n| (0..n).all(exact))
}
