//! Sampling at computed positions: `GridSample`, `AffineGrid`.

use base::{Error, Result};
use graph::NodeId;
use scalar::{DType, ScalarOp as S, Shape, Sym};

use super::{Out, one};
use crate::ctx::{Ctx, data_dependent};
use crate::node::Node;

/// What lies outside of an image.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outside {
    Zeros,
    Border,
    Reflection,
}

/// One element along one axis that contributes to a sample.
#[derive(Clone, Copy)]
struct Tap {
    /// i64, within the axis.
    index: NodeId,
    /// Absent where it is 1.
    weight: Option<NodeId>,
    /// Whether the element exists; absent where it always does.
    inside: Option<NodeId>,
}

/// One spatial axis of the sampled image.
struct Axis<'a> {
    extent: &'a Sym,
    outside: Outside,
    align: bool,
}

/// `GridSample`: taps along each axis from its coordinate, and the weighted sum over their combinations.
pub(super) fn sample(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let (x, grid) = (ctx.node(n.input(0)?)?, ctx.node(n.input(1)?)?);
    let (shape, at) = (ctx.shape(x), ctx.shape(grid));
    let spatial = shape.len().saturating_sub(2);
    if spatial == 0 || at.len() != shape.len() || !at[at.len() - 1].is(spatial as i64) {
        return Err(Error::parse(format!("the grid must be [N, …, {spatial}] for an image of rank {}", shape.len())));
    }
    if spatial > 3 {
        return Err(Error::unsupported(format!("{spatial} spatial axes")));
    }
    let outside = match n.string("padding_mode", "zeros") {
        "zeros" => Outside::Zeros,
        "border" => Outside::Border,
        "reflection" => Outside::Reflection,
        other => return Err(Error::parse(format!("padding_mode '{other}'"))),
    };
    let align = n.flag("align_corners", false);
    let mut per_axis = Vec::with_capacity(spatial);
    for (i, extent) in shape[2..].iter().enumerate() {
        let axis = Axis { extent, outside, align };
        let position = component(ctx, grid, spatial - 1 - i)?;
        per_axis.push(axis.taps(ctx, position, n.string("mode", "linear"))?);
    }
    let mut out: Shape = shape[..2].iter().cloned().collect();
    out.extend(at[1..at.len() - 1].iter().cloned());
    one(combine(ctx, x, &per_axis, &out)?)
}

/// One coordinate of a grid as f32 `[N, 1, …]`.
fn component(ctx: &mut Ctx, grid: NodeId, which: usize) -> Result<NodeId> {
    let last = ctx.rank(grid) - 1;
    let part = graph::compose::select(ctx.b(), grid, last, which as i64)?;
    let part = ctx.cast(part, DType::F32)?;
    ctx.unsqueeze(part, &[1])
}

/// Σ over one tap per axis of value · weights, with zero where a tap does not exist.
fn combine(ctx: &mut Ctx, x: NodeId, per_axis: &[Vec<Tap>], out: &Shape) -> Result<NodeId> {
    let dtype = ctx.dtype(x);
    let axes: Vec<usize> = (2..out.len()).collect();
    let choices: usize = per_axis.iter().map(Vec::len).product();
    let mut total: Option<NodeId> = None;
    for choice in 0..choices {
        let mut rest = choice;
        let taps: Vec<Tap> = per_axis.iter().map(|t| (t[rest % t.len()], rest /= t.len()).0).collect();
        let places = taps.iter().map(|t| ctx.expand(t.index, out)).collect::<Result<Vec<_>>>()?;
        let mut value = ctx.b().gather(x, &places, &axes)?;
        if let Some(inside) = product(ctx, S::And, taps.iter().filter_map(|t| t.inside))? {
            let zero = ctx.number_node(dtype, 0.0)?;
            value = ctx.select(inside, value, zero)?;
        }
        if let Some(weight) = product(ctx, S::Mul, taps.iter().filter_map(|t| t.weight))? {
            let weight = ctx.cast(weight, dtype)?;
            value = ctx.bin(S::Mul, value, weight)?;
        }
        total = Some(match total {
            Some(sum) => ctx.bin(S::Add, sum, value)?,
            None => value,
        });
    }
    total.ok_or_else(|| Error::internal("a sample without taps"))
}

fn product(ctx: &mut Ctx, op: S, mut parts: impl Iterator<Item = NodeId>) -> Result<Option<NodeId>> {
    let Some(first) = parts.next() else { return Ok(None) };
    parts.try_fold(first, |all, part| ctx.bin(op, all, part)).map(Some)
}

impl Axis<'_> {
    /// The element coordinate of a normalised one: −1 and 1 are the centres of the corner elements, or their outer edges.
    fn taps(&self, ctx: &mut Ctx, normal: NodeId, mode: &str) -> Result<Vec<Tap>> {
        let shifted = ctx.with(S::Add, normal, 1.0)?;
        let span = if self.align { self.extent - 1 } else { self.extent.clone() };
        let span = ctx.sym_node(&span, DType::F32)?;
        let scaled = ctx.bin(S::Mul, shifted, span)?;
        let scaled = if self.align { scaled } else { ctx.with(S::Sub, scaled, 1.0)? };
        let mut at = ctx.with(S::Div, scaled, 2.0)?;
        if mode == "nearest" {
            at = ctx.un(S::Round, at)?;
        }
        at = match self.outside {
            Outside::Zeros => at,
            Outside::Border => self.clamp(ctx, at)?,
            Outside::Reflection => self.reflect(ctx, at)?,
        };
        match mode {
            "nearest" => {
                let whole = ctx.un(S::Trunc, at)?;
                Ok(vec![self.tap(ctx, whole, None)?])
            }
            "linear" | "bilinear" => self.spread(ctx, at, &[0.0, 1.0], |ctx, f, k| {
                if k == 0.0 {
                    let one = ctx.number_node(DType::F32, 1.0)?;
                    ctx.bin(S::Sub, one, f)
                } else {
                    Ok(f)
                }
            }),
            "cubic" | "bicubic" => self.spread(ctx, at, &[-1.0, 0.0, 1.0, 2.0], keys),
            other => Err(Error::parse(format!("mode '{other}'"))),
        }
    }

    /// Taps around a position, each weighed by a function of the position's fraction and the tap's distance.
    fn spread(
        &self,
        ctx: &mut Ctx,
        at: NodeId,
        offsets: &[f64],
        weight: impl Fn(&mut Ctx, NodeId, f64) -> Result<NodeId>,
    ) -> Result<Vec<Tap>> {
        let floor = ctx.un(S::Floor, at)?;
        let fraction = ctx.bin(S::Sub, at, floor)?;
        let tap = |&offset: &f64| {
            let place = ctx.with(S::Add, floor, offset)?;
            let weight = weight(ctx, fraction, offset)?;
            self.tap(ctx, place, Some(weight))
        };
        offsets.iter().map(tap).collect()
    }

    /// The element at a whole coordinate.
    fn tap(&self, ctx: &mut Ctx, place: NodeId, weight: Option<NodeId>) -> Result<Tap> {
        let clamped = self.clamp(ctx, place)?;
        let (place, inside) = match self.outside {
            Outside::Border => (clamped, None),
            Outside::Zeros => (clamped, Some(ctx.bin(S::Eq, clamped, place)?)),
            Outside::Reflection => {
                let reflected = self.reflect(ctx, place)?;
                let whole = ctx.un(S::Trunc, reflected)?;
                (self.clamp(ctx, whole)?, None)
            }
        };
        Ok(Tap { index: ctx.cast(place, DType::I64)?, weight, inside })
    }

    fn clamp(&self, ctx: &mut Ctx, at: NodeId) -> Result<NodeId> {
        let last = ctx.sym_node(&(self.extent - 1), DType::F32)?;
        let low = ctx.with(S::Max, at, 0.0)?;
        ctx.bin(S::Min, low, last)
    }

    /// Mirrors at the borders as often as need be: with d the distance from the low border modulo twice the range, min(d, 2·range − d).
    fn reflect(&self, ctx: &mut Ctx, at: NodeId) -> Result<NodeId> {
        let (low, range) = if self.align { (0.0, self.extent - 1) } else { (-0.5, self.extent.clone()) };
        if range.is_zero() {
            return ctx.with(S::Mul, at, 0.0);
        }
        let period = ctx.sym_node(&(range * 2), DType::F32)?;
        let shifted = ctx.with(S::Sub, at, low)?;
        let distance = ctx.bin(S::Mod, shifted, period)?;
        let mirrored = ctx.bin(S::Sub, period, distance)?;
        let within = ctx.bin(S::Min, distance, mirrored)?;
        ctx.with(S::Add, within, low)
    }
}

/// Keys' cubic (1981) with coefficient −3/4 at distance |f − k|.
fn keys(ctx: &mut Ctx, f: NodeId, k: f64) -> Result<NodeId> {
    const A: f64 = -0.75;
    let shifted = ctx.with(S::Sub, f, k)?;
    let d = ctx.un(S::Abs, shifted)?;
    let near = (0.0..=1.0).contains(&k);
    let powers = if near { [A + 2.0, -(A + 3.0), 0.0, 1.0] } else { [A, -5.0 * A, 8.0 * A, -4.0 * A] };
    let mut value = ctx.with(S::Mul, d, powers[0])?;
    value = ctx.with(S::Add, value, powers[1])?;
    for power in &powers[2..] {
        let scaled = ctx.bin(S::Mul, value, d)?;
        value = ctx.with(S::Add, scaled, *power)?;
    }
    Ok(value)
}

/// `AffineGrid`: theta `[N, k, k + 1]` times the homogeneous coordinates of an image `[N, C, …]`, the last axis first.
pub(super) fn affine(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let theta = ctx.node(n.input(0)?)?;
    let size = n.input(1)?.vector().ok_or_else(|| data_dependent("size"))?;
    let spatial: Shape = size.get(2..).unwrap_or_default().iter().cloned().collect();
    let k = spatial.len();
    let align = n.flag("align_corners", false);
    let dtype = ctx.dtype(theta);
    let mut grid: Option<NodeId> = None;
    for column in 0..=k {
        let mut coefficient = graph::compose::select(ctx.b(), theta, 2, column as i64)?;
        let places: Vec<usize> = (1..=k).collect();
        coefficient = ctx.unsqueeze(coefficient, &places)?;
        let term = match k.checked_sub(column + 1) {
            Some(axis) => {
                let at = centres(ctx, &spatial, axis, align, dtype)?;
                ctx.bin(S::Mul, coefficient, at)?
            }
            None => coefficient,
        };
        grid = Some(match grid {
            Some(sum) => ctx.bin(S::Add, sum, term)?,
            None => term,
        });
    }
    let grid = grid.ok_or_else(|| Error::parse("size has no spatial axes"))?;
    let mut shape = spatial;
    shape.insert(0, ctx.shape(theta)[0].clone());
    shape.push(Sym::from(k));
    one(ctx.expand(grid, &shape)?)
}

/// Normalised coordinates of one spatial axis as `[…, extent, …, 1]`.
fn centres(ctx: &mut Ctx, spatial: &Shape, axis: usize, align: bool, dtype: DType) -> Result<NodeId> {
    let i = ctx.b().iota(spatial[axis].clone())?;
    let i = ctx.cast(i, dtype)?;
    let span = if align { &spatial[axis] - 1 } else { spatial[axis].clone() };
    let doubled = ctx.with(S::Mul, i, 2.0)?;
    let doubled = if align { doubled } else { ctx.with(S::Add, doubled, 1.0)? };
    let span = ctx.sym_node(&span, dtype)?;
    let unit = ctx.bin(S::Div, doubled, span)?;
    let at = ctx.with(S::Sub, unit, 1.0)?;
    let trailing: Vec<usize> = (1..=spatial.len() - axis).collect();
    ctx.unsqueeze(at, &trailing)
}

/// Most elements of a block of `Col2Im`, each of which is a part of a sum.
const MOST_TAPS: i64 = 1024;

/// `Col2Im`: adds the columns `[N, C·block, windows]` into the places of an image that they were taken from.
pub(super) fn col2im(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let columns = ctx.node(n.input(0)?)?;
    let image = n.input(1)?.vector().ok_or_else(|| data_dependent("image_shape"))?;
    let block = ctx.numbers(n.input(2)?, "block_shape")?;
    let k = block.len();
    let or = |name: &str, value: i64, count: usize| n.ints(name).map_or_else(|| vec![value; count], <[i64]>::to_vec);
    let (strides, dilations, pads) = (or("strides", 1, k), or("dilations", 1, k), or("pads", 0, 2 * k));
    if image.len() != k || strides.len() != k || dilations.len() != k || pads.len() != 2 * k {
        return Err(Error::parse("image_shape, block_shape, strides, dilations and pads must agree in length"));
    }
    let taps = block.iter().try_fold(1i64, |n, &b| n.checked_mul(b)).filter(|n| (1..=MOST_TAPS).contains(n));
    let taps = taps.ok_or_else(|| Error::unsupported(format!("a block of {block:?} elements")))?;
    let shape = ctx.shape(columns);
    if shape.len() != 3 || block.contains(&0) {
        return Err(Error::parse("the columns must be [N, C·block, windows]"));
    }
    let padded: Vec<Sym> = (0..k).map(|i| &image[i] + pads[i] + pads[k + i]).collect();
    let span = |i: usize| dilations[i] * (block[i] - 1) + 1;
    let windows: Vec<Sym> = (0..k).map(|i| (&padded[i] - span(i)).floor_div(&Sym::from(strides[i])) + 1).collect();
    let channels = shape[1].floor_div(&Sym::from(taps));
    let mut apart: Shape = [shape[0].clone(), channels.clone(), Sym::from(taps)].into_iter().collect();
    apart.extend(windows.iter().cloned());
    let columns = ctx.b().reshape(columns, apart)?;
    let zero = scalar::Scalar::from_f64(ctx.dtype(columns), 0.0);
    let mut total: Option<NodeId> = None;
    for tap in 0..taps {
        let mut rest = tap;
        let mut offsets = vec![0; k];
        for i in (0..k).rev() {
            (offsets[i], rest) = (rest % block[i] * dilations[i], rest / block[i]);
        }
        let part = graph::compose::select(ctx.b(), columns, 2, tap)?;
        let (mut lo, mut hi, mut gaps) = (vec![Sym::ZERO; 2], vec![Sym::ZERO; 2], vec![0; 2]);
        for i in 0..k {
            let reach = (&windows[i] - 1) * strides[i] + 1;
            lo.push(Sym::from(offsets[i]));
            hi.push(&padded[i] - &reach - offsets[i]);
            gaps.push(strides[i] - 1);
        }
        let spread = ctx.b().pad(part, lo, hi, &gaps, zero)?;
        total = Some(match total {
            Some(sum) => ctx.bin(S::Add, sum, spread)?,
            None => spread,
        });
    }
    let mut out = total.ok_or_else(|| Error::parse("block_shape is empty"))?;
    for i in 0..k {
        out = ctx.slice(out, 2 + i, &Sym::from(pads[i]), &image[i], 1)?;
    }
    one(out)
}
