//! Comps that are one convolution, or one of its gradients, as the library computes them.
//!
//! All three are one contraction of a *sliding* factor with a *plain* one. Along a spatial axis, the first one's position is
//! `o · stride + k · dilation − before` for an axis `o` of the result and a contracted axis `k`. They differ in which of both is
//! the longer one, and in the direction of the plain factor: where it runs against the other, the contraction is a gradient of
//! the data.

use base::Convolutions;
use kernel::{AxisSet, Epilogue, ValueId};
use program::{Convolution, ConvolutionKind, Param, Tensor, Vector, Window};
use scalar::{Activation, DType, Scalar};

use super::layout::{Dim, Layouts};
use super::product::split;
use super::slide::{Slide, Sliding, sliding};
use crate::flat::{Flat, FlatCond, FlatDef, FlatStore};
use crate::gemm::classes;
use crate::lin::Lin;

/// Spatial axes that the library takes.
const SPATIAL: std::ops::RangeInclusive<usize> = 2..=3;

/// The convolution of a comp that the library can take, with what follows it in the comp if the library may do that too; otherwise
/// what remains reads it from a workspace.
pub(crate) fn take(
    flat: &Flat,
    epilogue: Option<Epilogue>,
    allowed: Convolutions,
    params: &mut Vec<Param>,
) -> Option<(Convolution, Option<Flat>)> {
    if let Some(convolution) = epilogue.and_then(|e| followed(flat, e, allowed, params)) {
        return Some((convolution, None));
    }
    let (alone, rest, parameter) = split(flat, params.len())?;
    params.push(parameter);
    let convolution = convolution(&alone, params);
    if convolution.is_none() {
        params.pop();
    }
    Some((convolution?, Some(rest)))
}

/// A comp's convolution with what follows it, if the library takes both: its engines for that want channels last, and keep sums in
/// f32 until the end only where they multiply in 16 bits.
fn followed(flat: &Flat, epilogue: Epilogue, allowed: Convolutions, params: &[Param]) -> Option<Convolution> {
    let mut alone = flat.clone();
    let [store] = &mut alone.stores[..] else { return None };
    store.value = epilogue.product;
    let mut convolution = convolution(&alone, params)?;
    if epilogue.is_bare() {
        return Some(convolution);
    }
    let Convolution { kind, groups, y, .. } = &convolution;
    let last = [&convolution.x, y].iter().all(|t| t.strides[1] == 1 && t.extents[1] > 1);
    let known =
        matches!(epilogue.activation, None | Some(Activation::Relu)) && epilogue.beside.is_none() && epilogue.sums.is_none();
    let taken = last && known && *groups == 1 && *kind == ConvolutionKind::Forward && y.dtype != DType::F32;
    if !taken || allowed < Convolutions::Followed {
        return None;
    }
    let bias = match epilogue.bias {
        Some(v) => Some(bias(flat, load(flat, v)?, &alone.stores[0].index)?),
        None => None,
    };
    convolution.epilogue = program::Epilogue { bias, activation: epilogue.activation, ..program::Epilogue::default() };
    Some(convolution)
}

/// A vector over the adjacent axis of a result, which is that of its channels.
fn bias(flat: &Flat, load: Load<'_>, result: &Lin) -> Option<Vector> {
    let Load { arg, index, when } = load;
    let is_channel = |axis: usize| flat.extents[axis] > 1 && result.coef(axis) == 1 && index.coef(axis) == 1;
    let along = index.is_affine() && index.terms.len() == 1 && flat.order.iter().any(|&a| is_channel(a));
    (when.is_empty() && along).then_some(Vector { param: arg as u16, offset: index.base, over_rows: false })
}

/// A contraction that is all that a comp computes.
struct Alone<'a> {
    value: ValueId,
    factors: [ValueId; 2],
    acc: DType,
    store: &'a FlatStore,
}

/// The contraction, if a comp is nothing else and has points: what it multiplies is its operands, and it is stored as it is.
fn alone(flat: &Flat) -> Option<Alone<'_>> {
    let needed = flat.needed(std::iter::empty());
    let mut contracts = (0..flat.values.len() as ValueId).filter(|&v| matches!(flat.value(v).def, FlatDef::Contract { .. }));
    let (Some(value), None) = (contracts.next(), contracts.next()) else { return None };
    let FlatDef::Contract { a, b, acc, .. } = flat.value(value).def else { return None };
    let [store] = &flat.stores[..] else { return None };
    let others = (0..flat.values.len() as ValueId).filter(|&o| needed[o as usize] && ![value, a, b].contains(&o)).count();
    let plain = store.value == value && store.combine.is_none() && !store.collides && store.when.is_empty();
    let is_alone = others == 0 && plain && store.index.is_affine() && flat.points(flat.parallel()) != 0;
    is_alone.then_some(Alone { value, factors: [a, b], acc, store })
}

/// The convolution, if a comp is nothing else and the library can take it.
fn convolution(flat: &Flat, params: &[Param]) -> Option<Convolution> {
    let one = alone(flat)?;
    let [a, b] = one.factors;
    let loads = [load(flat, a)?, load(flat, b)?];
    let dtype = params[one.store.arg].dtype;
    let same = loads.iter().all(|l| params[l.arg].dtype == dtype);
    if !same || !matches!(dtype, DType::F16 | DType::BF16 | DType::F32) || one.acc != DType::F32 {
        return None;
    }
    let (group, m, n, k) = classes(flat, one.value);
    let all = group.union(m).union(n).union(k);
    if flat.live(flat.order.iter().copied().collect()) != all || all.iter().any(|x| flat.extents[x] == 0) {
        return None;
    }
    let is_matrix = !flat.live(m).is_empty() && !flat.live(n).is_empty();
    if !is_matrix && !loads.iter().any(|l| overlaps(flat, l.index, m.union(n), k)) {
        return None;
    }
    let read = |sliding: usize, own: AxisSet, other: AxisSet| {
        let axes = Axes { group: single(group)?, other: single(other)?, own, inner: k };
        Reading { flat, one: &one, x: &loads[sliding], v: &loads[1 - sliding], axes, dtype }.convolution()
    };
    read(0, m, n).or_else(|| read(1, n, m))
}

/// Whether an index reaches some element in several ways along an axis of the result and a contracted one. Rows and columns of a
/// matrix do not, so that a product of a matrix and a vector is no convolution.
fn overlaps(flat: &Flat, index: &Lin, own: AxisSet, inner: AxisSet) -> bool {
    let reach = |axis: usize| index.coef(axis).abs() * (flat.extents[axis] - 1);
    let both = |o: usize, k: usize| reach(k) >= index.coef(o).abs() && reach(o) >= index.coef(k).abs();
    let moves = |&a: &usize| index.coef(a) != 0;
    own.iter().filter(moves).any(|o| inner.iter().filter(moves).any(|k| both(o, k)))
}

/// A read of an argument.
struct Load<'a> {
    arg: usize,
    index: &'a Lin,
    when: &'a [FlatCond],
}

/// A read that gives zero where its conditions fail.
fn load(flat: &Flat, v: ValueId) -> Option<Load<'_>> {
    let value = flat.value(v);
    match &value.def {
        FlatDef::Load { arg, index, when, fill } if when.is_empty() || *fill == Scalar::zero(value.dtype) => {
            Some(Load { arg: *arg, index, when })
        }
        _ => None,
    }
}

/// The axis of a set that has at most one.
#[allow(clippy::option_option)] // No axis is an answer, too many are none.
fn single(set: AxisSet) -> Option<Option<usize>> {
    let mut axes = set.iter();
    let first = axes.next();
    axes.next().is_none().then_some(first)
}

/// Axes by who varies over them.
#[derive(Clone, Copy)]
struct Axes {
    /// All three.
    group: Option<usize>,
    /// The plain factor and the result.
    other: Option<usize>,
    /// The sliding factor and the result.
    own: AxisSet,
    /// Both factors.
    inner: AxisSet,
}

/// A contraction with one of its factors as the sliding one.
struct Reading<'a> {
    flat: &'a Flat,
    one: &'a Alone<'a>,
    x: &'a Load<'a>,
    v: &'a Load<'a>,
    axes: Axes,
    dtype: DType,
}

/// Affine positions of the three arrays, and what slides.
struct Found {
    x: Lin,
    v: Lin,
    slides: Vec<Slide>,
    /// The axis of the sliding factor and the result that does not slide, and the contracted one.
    own: Option<usize>,
    inner: Option<usize>,
}

impl Reading<'_> {
    /// The best description: with channels and a batch if possible, then with most windows, then with fewest gaps in memory.
    fn convolution(&self) -> Option<Convolution> {
        if !self.v.when.is_empty() || !self.v.index.is_affine() {
            return None;
        }
        let flat = self.flat;
        let Sliding { index, other, slides } =
            sliding(flat, self.x.index, self.x.when, self.v.index, self.axes.own, self.axes.inner)?;
        let used = |a: usize| slides.iter().any(|s| s.out == Some(a) || s.inner == Some(a));
        let rest = |set: AxisSet| -> Vec<usize> { flat.order.iter().copied().filter(|&a| set.has(a) && !used(a)).collect() };
        let (out, inner) = (rest(self.axes.own), rest(self.axes.inner));
        let mut best = None;
        for free in super::slide::free(&index, &flat.extents, &out, &inner) {
            let pairs = free.slides.iter().filter(|s| s.out.is_some() && s.inner.is_some()).count();
            let lacks = (free.inner.is_none(), free.out.is_none(), usize::MAX - pairs);
            let slides = slides.iter().cloned().chain(free.slides).collect();
            let found = Found { x: free.index, v: other.clone(), slides, own: free.out, inner: free.inner };
            let Some((gaps, convolution)) = self.described(found) else { continue };
            let rank = (lacks, gaps);
            if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                best = Some((rank, convolution));
            }
        }
        best.map(|(_, convolution)| convolution)
    }

    fn extent(&self, axis: Option<usize>) -> i64 {
        axis.map_or(1, |a| self.flat.extents[a])
    }

    /// The description, and how many gaps its arrays have.
    fn described(&self, mut found: Found) -> Option<(usize, Convolution)> {
        if found.slides.is_empty() || found.slides.len() > *SPATIAL.end() {
            return None;
        }
        found.slides.sort_by_key(|s| std::cmp::Reverse(s.unit));
        while found.slides.len() < *SPATIAL.start() {
            found.slides.insert(0, Slide::NONE);
        }
        let kinds = self.kinds(&mut found)?;
        kinds.into_iter().find_map(|kind| self.described_as(kind, &found))
    }

    /// What it may be, the likelier first; the plain factor's direction is made that of the taps.
    fn kinds(&self, found: &mut Found) -> Option<Vec<ConvolutionKind>> {
        use ConvolutionKind::{Data, Forward, Weights};
        let taps: Vec<usize> = found.slides.iter().filter_map(|s| s.inner).collect();
        let against = taps.iter().filter(|&&a| found.v.coef(a) < 0).count();
        let spread = found.slides.iter().any(|s| s.step > 1);
        if against > 0 || spread {
            let ranges = self.flat.ranges();
            let reversed = |a: usize| taps.contains(&a).then(|| super::slide::reversed(a, self.flat.extents[a]));
            found.v = found.v.subst(&reversed, &ranges);
            return (against == taps.len()).then(|| vec![Data]);
        }
        let points = |of: fn(&Slide) -> Option<usize>| found.slides.iter().map(|s| self.extent(of(s))).product::<i64>();
        Some(if points(|s| s.inner) > points(|s| s.out) { vec![Weights, Forward] } else { vec![Forward, Weights] })
    }

    fn described_as(&self, kind: ConvolutionKind, found: &Found) -> Option<(usize, Convolution)> {
        let Found { x, v, slides, own, inner } = found;
        let (y, group, other) = (&self.one.store.index, self.axes.group, self.axes.other);
        let plain = |lin: &Lin, axis: Option<usize>| Dim::new(self.extent(axis), axis.map_or(0, |a| lin.coef(a)));
        let channels = |lin: &Lin, axis: Option<usize>| plain(lin, group).over(plain(lin, axis));
        let of_x = |s: &Slide| Dim::new(s.extent, s.unit);
        let of_v = |s: &Slide| plain(v, s.inner);
        let of_y = |s: &Slide| plain(y, s.out);
        let (x_dims, v_dims, y_dims) = match kind {
            ConvolutionKind::Forward | ConvolutionKind::Data => (
                [plain(x, *own), channels(x, *inner)?],
                match kind {
                    ConvolutionKind::Forward => [channels(v, other)?, plain(v, *inner)],
                    _ => [channels(v, *inner)?, plain(v, other)],
                },
                [plain(y, *own), channels(y, other)?],
            ),
            ConvolutionKind::Weights => (
                [plain(x, *inner), channels(x, *own)?],
                [plain(v, *inner), channels(v, other)?],
                [channels(y, other)?, plain(y, *own)],
            ),
        };
        let with = |dims: [Dim; 2], spatial: &dyn Fn(&Slide) -> Dim| -> Vec<Dim> {
            dims.into_iter().chain(slides.iter().map(spatial)).collect()
        };
        let mut layouts = Layouts::fit([with(x_dims, &of_x), with(v_dims, &of_v), with(y_dims, &of_y)])?;
        let free: Vec<(usize, i64)> =
            slides.iter().enumerate().filter(|(_, s)| s.free).map(|(i, s)| (2 + i, s.slack(kind))).collect();
        layouts.widen(0, &free);
        let windows = slides.iter().zip(&layouts.arrays[0][2..]).map(|(s, dim)| {
            let (out, inner) = (self.extent(s.out), self.extent(s.inner));
            s.window(kind, dim.extent, out, inner)
        });
        let windows = windows.collect::<Option<Vec<Window>>>()?;
        let gaps = layouts.gaps();
        let [x_dims, v_dims, y_dims] = layouts.arrays;
        let dtype = self.dtype;
        let tensor = |arg: usize, offset: i64, dims: Vec<Dim>| {
            let (extents, strides) = dims.iter().map(|d| (d.extent, d.stride)).unzip();
            (offset >= 0).then_some(Tensor { param: arg as u16, dtype, offset, extents, strides })
        };
        let sliding = tensor(self.x.arg, x.base, x_dims)?;
        let plain = tensor(self.v.arg, v.base, v_dims)?;
        let result = tensor(self.one.store.arg, y.base, y_dims)?;
        let (x, w, y) = match kind {
            ConvolutionKind::Forward => (sliding, plain, result),
            ConvolutionKind::Data => (result, plain, sliding),
            ConvolutionKind::Weights => (sliding, result, plain),
        };
        let groups = self.extent(group);
        let epilogue = program::Epilogue::default();
        Some((gaps, Convolution { kind, groups, windows, x, w, y, acc: self.one.acc, epilogue }))
    }
}
