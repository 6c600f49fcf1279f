//! Resizing with ONNX's modes, one axis at a time.

use base::Result;
use scalar::{DType, Scalar, ScalarOp as S, Shape, Sym};

use super::broadcast::{bad, binary, cast, full, in_f32, per_channel, scalar_with, with_scalar};
use super::index::{index_select, repeat_interleave};
use crate::{Builder, NodeId};

/// How an output position maps to an input coordinate; scale = output extent / input extent unless given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coordinates {
    /// (o + ½)/scale − ½.
    #[default]
    HalfPixel,
    /// As `HalfPixel`, but 0 where the output extent is 1.
    PytorchHalfPixel,
    /// o·(n − 1)/(m − 1), 0 where the output extent m is 1.
    AlignCorners,
    /// o/scale.
    Asymmetric,
}

/// Which neighbour [`Filter::Nearest`] takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nearest {
    /// The nearer one, the lower of two equally near.
    #[default]
    RoundPreferFloor,
    /// The nearer one, the higher of two equally near.
    RoundPreferCeil,
    /// The lower.
    Floor,
    /// The higher.
    Ceil,
}

/// How values between elements are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Filter {
    /// One neighbour.
    Nearest(Nearest),
    /// Two neighbours, linearly.
    Linear,
    /// Four neighbours with Keys' cubic of coefficient `a` (−0.75 in PyTorch and ONNX, −0.5 in TensorFlow).
    Cubic {
        /// Coefficient.
        a: f64,
    },
}

/// New extent of one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Axis.
    pub axis: usize,
    /// Output extent.
    pub size: Sym,
    /// Scale to compute coordinates with; output over input extent if absent.
    pub scale: Option<f64>,
}

/// x resized along axes, separably. Coordinates are computed in f32, values in f32 for f16 and bf16; positions outside take
/// the nearest element. Nearest upsampling by a whole factor that all coordinate rules agree on is a pure view.
///
/// # Errors
/// An axis out of range, or interpolation of values that are not floats.
pub fn resize(b: &mut Builder, x: NodeId, targets: &[Target], filter: Filter, coordinates: Coordinates) -> Result<NodeId> {
    for t in targets {
        if t.axis >= b.shape(x).len() {
            return Err(bad(b, "resize", &[x], format!("axis {} is out of range", t.axis)));
        }
    }
    if !matches!(filter, Filter::Nearest(_)) && !b.dtype(x).is_float() {
        return Err(bad(b, "resize", &[x], "interpolation needs a float; cast first"));
    }
    let changed = |b: &Builder, y: NodeId, t: &Target| b.shape(y)[t.axis] != t.size || t.scale.is_some_and(|s| s != 1.0);
    let run = |b: &mut Builder, x: NodeId| {
        targets.iter().try_fold(x, |y, t| if changed(b, y, t) { resize_axis(b, y, t, filter, coordinates) } else { Ok(y) })
    };
    if matches!(filter, Filter::Nearest(_)) { run(b, x) } else { in_f32(b, x, run) }
}

fn resize_axis(b: &mut Builder, x: NodeId, t: &Target, filter: Filter, coordinates: Coordinates) -> Result<NodeId> {
    let n = b.shape(x)[t.axis].clone();
    if let Filter::Nearest(rule) = filter
        && let Some(times) = whole_factor(&n, t, rule, coordinates)
    {
        return repeat_interleave(b, x, t.axis, &times);
    }
    let at = coordinate(b, &n, t, coordinates)?;
    match filter {
        Filter::Nearest(rule) => {
            let at = nearest(b, at, rule)?;
            pick(b, x, t.axis, at, &n)
        }
        Filter::Linear => linear(b, x, t.axis, at, &n),
        Filter::Cubic { a } => cubic(b, x, t.axis, at, &n, a),
    }
}

/// The factor by which every element simply repeats, if so.
fn whole_factor(n: &Sym, t: &Target, rule: Nearest, coordinates: Coordinates) -> Option<Sym> {
    let times = t.size.exact_div(n)?;
    let k = times.as_int()?;
    let fits = t.scale.is_none_or(|s| s == k as f64);
    let repeats = matches!(
        (coordinates, rule),
        (Coordinates::Asymmetric, Nearest::Floor)
            | (Coordinates::HalfPixel | Coordinates::PytorchHalfPixel, Nearest::RoundPreferFloor | Nearest::RoundPreferCeil)
    );
    (fits && repeats && k >= 1).then_some(times)
}

/// Output over input extent as f32 0-d, with amounts subtracted from both.
fn ratio(b: &mut Builder, top: Sym, bottom: Sym) -> Result<NodeId> {
    let mut value = |s: Sym| -> Result<NodeId> {
        let s = b.sym(s)?;
        cast(b, s, DType::F32)
    };
    let (top, bottom) = (value(top)?, value(bottom)?);
    b.map(S::Div, &[top, bottom])
}

/// Input coordinate of every output position, f32 `[size]`.
fn coordinate(b: &mut Builder, n: &Sym, t: &Target, how: Coordinates) -> Result<NodeId> {
    let o = b.iota(&t.size)?;
    let o = cast(b, o, DType::F32)?;
    let single = Coordinates::PytorchHalfPixel == how || Coordinates::AlignCorners == how;
    if single && t.size.is_one() {
        return with_scalar(b, S::Mul, o, 0.0);
    }
    match how {
        Coordinates::AlignCorners => {
            let steps = Sym::max(&(&t.size - 1), &Sym::ONE);
            let r = ratio(b, n - 1, steps)?;
            binary(b, S::Mul, o, r)
        }
        Coordinates::Asymmetric => divide_by_scale(b, o, n, t),
        Coordinates::HalfPixel | Coordinates::PytorchHalfPixel => {
            let centre = with_scalar(b, S::Add, o, 0.5)?;
            let scaled = divide_by_scale(b, centre, n, t)?;
            with_scalar(b, S::Sub, scaled, 0.5)
        }
    }
}

fn divide_by_scale(b: &mut Builder, o: NodeId, n: &Sym, t: &Target) -> Result<NodeId> {
    let literal = t.size.as_int().zip(n.as_int()).map(|(m, n)| m as f64 / n as f64);
    match t.scale.or(literal) {
        Some(s) => with_scalar(b, S::Div, o, s),
        None => {
            let s = ratio(b, t.size.clone(), n.clone())?;
            binary(b, S::Div, o, s)
        }
    }
}

fn nearest(b: &mut Builder, at: NodeId, rule: Nearest) -> Result<NodeId> {
    match rule {
        Nearest::Floor => b.map(S::Floor, &[at]),
        Nearest::Ceil => b.map(S::Ceil, &[at]),
        Nearest::RoundPreferFloor => {
            let low = with_scalar(b, S::Sub, at, 0.5)?;
            b.map(S::Ceil, &[low])
        }
        Nearest::RoundPreferCeil => {
            let high = with_scalar(b, S::Add, at, 0.5)?;
            b.map(S::Floor, &[high])
        }
    }
}

/// Elements at whole f32 coordinates, clamped into the axis.
fn pick(b: &mut Builder, x: NodeId, axis: usize, at: NodeId, n: &Sym) -> Result<NodeId> {
    let i = cast(b, at, DType::I64)?;
    let i = with_scalar(b, S::Max, i, 0.0)?;
    let last = b.sym(n - 1)?;
    let i = binary(b, S::Min, i, last)?;
    index_select(b, x, axis, i)
}

/// Weights over one axis as a view that broadcasts against x.
fn weigh(b: &mut Builder, x: NodeId, axis: usize, weights: NodeId) -> Result<NodeId> {
    let dtype = b.dtype(x);
    let w = cast(b, weights, dtype)?;
    let w = per_channel(b, w, axis, b.shape(x).len())?;
    binary(b, S::Mul, x, w)
}

/// (1 − f)·x[⌊at⌋] + f·x[⌊at⌋ + 1] with f the fraction of `at`.
fn linear(b: &mut Builder, x: NodeId, axis: usize, at: NodeId, n: &Sym) -> Result<NodeId> {
    let floor = b.map(S::Floor, &[at])?;
    let f = b.map(S::Sub, &[at, floor])?;
    let g = scalar_with(b, S::Sub, 1.0, f)?;
    let next = with_scalar(b, S::Add, floor, 1.0)?;
    let (low, high) = (pick(b, x, axis, floor, n)?, pick(b, x, axis, next, n)?);
    let (low, high) = (weigh(b, low, axis, g)?, weigh(b, high, axis, f)?);
    b.map(S::Add, &[low, high])
}

/// Σₖ wₖ·x[⌊at⌋ + k − 1] with Keys' weights (1981) of the distances.
fn cubic(b: &mut Builder, x: NodeId, axis: usize, at: NodeId, n: &Sym, a: f64) -> Result<NodeId> {
    let floor = b.map(S::Floor, &[at])?;
    let f = b.map(S::Sub, &[at, floor])?;
    let mut total = None;
    for k in 0..4 {
        let shifted = with_scalar(b, S::Sub, f, f64::from(k) - 1.0)?;
        let distance = b.map(S::Abs, &[shifted])?;
        let weight = if k == 1 || k == 2 {
            polynomial(b, distance, &[a + 2.0, -(a + 3.0), 0.0, 1.0])?
        } else {
            polynomial(b, distance, &[a, -5.0 * a, 8.0 * a, -4.0 * a])?
        };
        let place = with_scalar(b, S::Add, floor, f64::from(k) - 1.0)?;
        let tap = pick(b, x, axis, place, n)?;
        let term = weigh(b, tap, axis, weight)?;
        total = Some(match total {
            Some(t) => b.map(S::Add, &[t, term])?,
            None => term,
        });
    }
    total.ok_or_else(|| bad(b, "resize", &[x], "has no taps"))
}

/// Horner evaluation, highest power first.
fn polynomial(b: &mut Builder, x: NodeId, coefficients: &[f64]) -> Result<NodeId> {
    let shape: Shape = b.shape(x).clone();
    let mut y = full(b, &shape, Scalar::from_f64(b.dtype(x), coefficients[0]))?;
    for &c in &coefficients[1..] {
        let scaled = b.map(S::Mul, &[y, x])?;
        y = with_scalar(b, S::Add, scaled, c)?;
    }
    Ok(y)
}
