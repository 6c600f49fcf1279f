//! How one factor of a contraction slides along the other.

use kernel::AxisSet;
use program::{ConvolutionKind, Window};

use crate::flat::{Flat, FlatCond};
use crate::lin::{Atom, Lin, Ranges, gcd};

/// Strides that are tried where no padding tells an axis' own from a window's.
const STRIDES: std::ops::RangeInclusive<i64> = 1..=4;

/// One spatial axis of the sliding factor: position `(out · stride + inner · dilation − before) / step`, where that is a whole
/// number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slide {
    /// Axis of the result.
    pub(super) out: Option<usize>,
    /// Contracted axis.
    pub(super) inner: Option<usize>,
    stride: i64,
    dilation: i64,
    before: i64,
    pub(super) step: i64,
    /// Positions that there are, or that are used at least.
    pub(super) extent: i64,
    /// Distance of neighbouring positions, in elements.
    pub(super) unit: i64,
    /// Nothing says where it ends.
    pub(super) free: bool,
}

/// What a factor's position and conditions say: `index` is what is left of the position, `other` the other factor's position, both
/// after contracted axes have been turned so that the factor slides forwards.
pub(super) struct Sliding {
    pub(super) index: Lin,
    pub(super) other: Lin,
    pub(super) slides: Vec<Slide>,
}

/// An axis from its end.
pub(super) fn reversed(axis: usize, extent: i64) -> Lin {
    Lin::axis(axis).scale(-1).add(&Lin::constant(extent - 1))
}

/// The slides that conditions tell; `None` if they say something else.
pub(super) fn sliding(flat: &Flat, index: &Lin, when: &[FlatCond], other: &Lin, out: AxisSet, inner: AxisSet) -> Option<Sliding> {
    let ranges = flat.ranges();
    let backwards = |a: usize| index.coef(a) < 0 || when.iter().any(|c| c.expr.coef(a) < 0);
    let turned: AxisSet = inner.iter().filter(|&a| backwards(a)).collect();
    let turn = |e: &Lin| e.subst(&|a| turned.has(a).then(|| reversed(a, flat.extents[a])), &ranges);
    let (mut index, other) = (turn(index), turn(other));
    let conditions = || when.iter().map(|c| (turn(&c.expr), c.extent));
    let (limits, mut wholes): (Vec<_>, Vec<_>) = conditions().partition(|(e, _)| e.is_affine());
    let mut slides: Vec<Slide> = Vec::new();
    for (position, extent) in limits {
        let step = take_step(&mut wholes, &position, &ranges)?;
        let mut slide = Slide { step, extent, ..Slide::along(&position, out, inner)? };
        let taken = |a: Option<usize>| a.is_some() && slides.iter().any(|s| s.out == a || s.inner == a);
        if taken(slide.out) || taken(slide.inner) || (extent - 1) % step != 0 {
            return None;
        }
        slide.extent = (extent - 1) / step + 1;
        let at = position.div(step, &ranges);
        slide.unit = unit(&index, &at)?;
        index = index.add(&at.scale(-slide.unit));
        slides.push(slide);
    }
    let clear = slides.iter().flat_map(|s| [s.out, s.inner]).flatten().all(|a| index.coef(a) == 0);
    (clear && wholes.is_empty() && index.is_affine()).then_some(Sliding { index, other, slides })
}

/// How many steps a position goes from one element to the next: what a condition of divisibility says, which is used up.
fn take_step(wholes: &mut Vec<(Lin, i64)>, position: &Lin, ranges: &dyn Ranges) -> Option<i64> {
    let step_of = |(e, extent): &(Lin, i64)| match &e.terms[..] {
        [(Atom::Mod(_, step), 1)] if *extent == 1 && position.clone().modulo(*step, ranges) == *e => Some(*step),
        _ => None,
    };
    let Some((at, step)) = wholes.iter().enumerate().find_map(|(i, w)| Some((i, step_of(w)?))) else { return Some(1) };
    wholes.remove(at);
    Some(step)
}

/// How often a position is in an index.
fn unit(index: &Lin, position: &Lin) -> Option<i64> {
    let (atom, by) = position.terms.iter().max_by_key(|(a, _)| !matches!(a, Atom::Axis(_)))?;
    let (_, coef) = index.terms.iter().find(|(a, _)| a == atom)?;
    (coef % by == 0 && coef / by > 0).then_some(coef / by)
}

impl Slide {
    /// A spatial axis of one element.
    pub(super) const NONE: Slide =
        Slide { out: None, inner: None, stride: 1, dilation: 1, before: 0, step: 1, extent: 1, unit: 0, free: false };

    /// One with the steps of a position.
    fn along(position: &Lin, out: AxisSet, inner: AxisSet) -> Option<Slide> {
        let mut slide = Slide { before: -position.base, ..Slide::NONE };
        for (atom, coef) in &position.terms {
            let Atom::Axis(a) = *atom else { return None };
            let (axis, step) = if out.has(a) {
                (&mut slide.out, &mut slide.stride)
            } else if inner.has(a) {
                (&mut slide.inner, &mut slide.dilation)
            } else {
                return None;
            };
            if axis.is_some() || *coef <= 0 {
                return None;
            }
            (*axis, *step) = (Some(a), *coef);
        }
        (slide.before >= 0).then_some(slide)
    }

    /// How many positions more than those that are used there may be.
    pub(super) fn slack(&self, kind: ConvolutionKind) -> i64 {
        match kind {
            ConvolutionKind::Forward => self.stride - 1,
            ConvolutionKind::Data => 0,
            ConvolutionKind::Weights => self.dilation - 1,
        }
    }

    /// The window, for the extents of the sliding factor, the result and the contracted axis.
    pub(super) fn window(&self, kind: ConvolutionKind, extent: i64, out: i64, inner: i64) -> Option<Window> {
        let (data, taps, results, stride, dilation, before) = match kind {
            ConvolutionKind::Forward => (extent, inner, out, self.stride, self.dilation, self.before),
            ConvolutionKind::Weights => (extent, out, inner, self.dilation, self.stride, self.before),
            ConvolutionKind::Data if self.stride == 1 => {
                (out, inner, extent, self.step, self.dilation, (inner - 1) * self.dilation - self.before)
            }
            ConvolutionKind::Data => return None,
        };
        let reach = (taps - 1) * dilation + 1;
        let fits = |after: i64| {
            let room = data + before + after - reach;
            room >= 0 && room / stride + 1 == results
        };
        let least = (results - 1) * stride + reach - data - before;
        let after = [before, least, 0].into_iter().find(|&after| after >= 0 && fits(after))?;
        (before >= 0).then_some(Window { stride, dilation, before, after })
    }
}

/// One way to see the axes that no condition speaks of.
pub(super) struct Free {
    /// What is left of the position: the two axes that do not slide.
    pub(super) index: Lin,
    pub(super) slides: Vec<Slide>,
    pub(super) out: Option<usize>,
    pub(super) inner: Option<usize>,
}

/// All ways.
pub(super) fn free(index: &Lin, extents: &[i64], out: &[usize], inner: &[usize]) -> Vec<Free> {
    let but = |axes: &[usize], one: Option<usize>| -> Vec<usize> { axes.iter().copied().filter(|&a| Some(a) != one).collect() };
    let choices = |axes: &[usize]| -> Vec<Option<usize>> { axes.iter().copied().map(Some).chain([None]).collect() };
    let mut all = Vec::new();
    for still in choices(out) {
        for channel in choices(inner) {
            for pairs in pairings(&but(out, still), &but(inner, channel)) {
                let strides = if pairs.is_empty() { 1..=1 } else { STRIDES };
                all.extend(strides.filter_map(|stride| {
                    let slides = pairs.iter().map(|&p| free_slide(index, extents, p, stride)).collect::<Option<Vec<_>>>()?;
                    Some(Free { index: index.clone(), slides, out: still, inner: channel })
                }));
            }
        }
    }
    all
}

type Pair = (Option<usize>, Option<usize>);

/// Ways to pair axes, each with one of the others or none.
fn pairings(out: &[usize], inner: &[usize]) -> Vec<Vec<Pair>> {
    let Some((&first, rest)) = out.split_first() else { return vec![inner.iter().map(|&k| (None, Some(k))).collect()] };
    if out.len() + inner.len() > 6 {
        return Vec::new();
    }
    let partners = inner.iter().copied().map(Some).chain([None]);
    let with = |partner: Option<usize>| {
        let left: Vec<usize> = inner.iter().copied().filter(|&k| Some(k) != partner).collect();
        let others = pairings(rest, &left).into_iter();
        others.map(move |pairs| std::iter::once((Some(first), partner)).chain(pairs).collect::<Vec<_>>())
    };
    partners.flat_map(with).collect()
}

/// A slide of axes alone, whose common step is so many positions.
fn free_slide(index: &Lin, extents: &[i64], (out, inner): Pair, common: i64) -> Option<Slide> {
    let coef = |a: Option<usize>| a.map_or(0, |a| index.coef(a));
    let (o, k) = (coef(out), coef(inner));
    let step = gcd(o, k);
    if o < 0 || k < 0 || step <= 0 || step % common != 0 {
        return None;
    }
    let unit = step / common;
    let number = |c: i64| if c == 0 { 1 } else { c / unit };
    let (stride, dilation) = (number(o), number(k));
    let last = |a: Option<usize>, step: i64| a.map_or(0, |a| (extents[a] - 1) * step);
    let extent = last(out, stride) + last(inner, dilation) + 1;
    Some(Slide { out, inner, stride, dilation, extent, unit, free: true, ..Slide::NONE })
}
