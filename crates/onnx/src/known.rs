//! Values that the importer knows: integers (possibly symbolic) and host tensors.
//!
//! Shape arithmetic (Shape, Gather, Concat, …) is evaluated here at import, over [`Sym`], so that Reshape, Expand, Slice
//! and the like get their operands symbolically. An evaluation that cannot be decided gives `None`, and the op becomes
//! graph nodes instead.

use std::rc::Rc;

use graph::HostTensor;
use scalar::{DType, Facts, Scalar, Sym};

/// Constants of at most this many elements are folded; larger ones are weights.
pub(crate) const MAX_FOLD: usize = 64;
/// Integers of at most this many elements are tracked symbolically.
pub(crate) const MAX_INTS: usize = 1024;

/// A constant with the name that its frozen input takes.
#[derive(Debug)]
pub(crate) struct Weight {
    pub(crate) name: String,
    pub(crate) data: HostTensor,
}

/// A value known at import.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    /// Small integers, bools, or floats with integral values, each a symbolic integer.
    Ints(Ints),
    /// Any constant.
    Host(Rc<Weight>),
}

/// A small tensor of symbolic integers, row-major.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ints {
    /// Element type; bools are 0 and 1.
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<Sym>,
}

impl Known {
    /// A constant: as integers when it is a small tensor of a dtype that shapes and masks have.
    pub(crate) fn constant(name: &str, data: HostTensor) -> Known {
        let shape_like = matches!(data.dtype(), DType::I32 | DType::I64 | DType::Bool);
        match Ints::of(&data).filter(|_| shape_like) {
            Some(ints) => Known::Ints(ints),
            None => Known::Host(Rc::new(Weight { name: name.into(), data })),
        }
    }
    pub(crate) fn dtype(&self) -> DType {
        match self {
            Known::Ints(i) => i.dtype,
            Known::Host(w) => w.data.dtype(),
        }
    }
    /// As a host tensor, if no element is symbolic.
    pub(crate) fn host(&self) -> Option<HostTensor> {
        match self {
            Known::Host(w) => Some(w.data.clone()),
            Known::Ints(i) => i.host(),
        }
    }
    /// As integers; a float tensor only if small and integral.
    pub(crate) fn ints(&self) -> Option<Ints> {
        match self {
            Known::Ints(i) => Some(i.clone()),
            Known::Host(w) => Some(&w.data).filter(|d| d.len() <= MAX_FOLD).and_then(Ints::of),
        }
    }
}

impl Ints {
    pub(crate) fn new(dtype: DType, shape: Vec<usize>, values: Vec<Sym>) -> Ints {
        debug_assert_eq!(shape.iter().product::<usize>(), values.len());
        Ints { dtype, shape, values }
    }
    /// A vector of i64.
    pub(crate) fn vector(values: Vec<Sym>) -> Ints {
        Ints::new(DType::I64, vec![values.len()], values)
    }
    /// The integers of a small host tensor whose elements are all integral.
    fn of(data: &HostTensor) -> Option<Ints> {
        if data.len() > MAX_INTS || data.dtype() == DType::U64 {
            return None;
        }
        let exact = |s: Scalar| {
            let v = s.as_i64();
            (!s.dtype().is_float() || (s.as_f64().abs() < 1e15 && Scalar::from_i64(s.dtype(), v) == s)).then(|| Sym::from(v))
        };
        let values = (0..data.len()).map(|i| exact(data.get(i))).collect::<Option<Vec<_>>>()?;
        Some(Ints::new(data.dtype(), data.shape().to_vec(), values))
    }
    /// As a host tensor, if no element is symbolic.
    pub(crate) fn host(&self) -> Option<HostTensor> {
        let values = self.consts()?;
        Some(HostTensor::from_i64s(self.dtype, &self.shape, &values))
    }
    /// The numbers, if no element is symbolic.
    pub(crate) fn consts(&self) -> Option<Vec<i64>> {
        self.values.iter().map(Sym::as_int).collect()
    }
    fn with(&self, shape: Vec<usize>, values: Vec<Sym>) -> Ints {
        Ints::new(self.dtype, shape, values)
    }
    /// Same elements, other extents.
    pub(crate) fn reshape(&self, shape: Vec<usize>) -> Option<Ints> {
        (shape.iter().product::<usize>() == self.values.len()).then(|| self.with(shape, self.values.clone()))
    }
    /// Conversion, where it keeps every value.
    pub(crate) fn cast(&self, to: DType, facts: &Facts) -> Option<Ints> {
        let values = match to {
            DType::Bool => self.values.iter().map(|v| truth(v, facts).map(flag)).collect::<Option<Vec<_>>>()?,
            DType::I64 => self.values.clone(),
            _ => self.values.iter().map(|v| fits(v, self.dtype, to).then(|| v.clone())).collect::<Option<Vec<_>>>()?,
        };
        Some(Ints::new(to, self.shape.clone(), values))
    }
    /// `f` on every element.
    pub(crate) fn map(&self, f: impl Fn(&Sym) -> Option<Sym>) -> Option<Ints> {
        Some(self.with(self.shape.clone(), self.values.iter().map(f).collect::<Option<Vec<_>>>()?))
    }
    /// `f` on every pair of elements, broadcast as numpy does.
    pub(crate) fn zip(&self, other: &Ints, dtype: DType, f: impl Fn(&Sym, &Sym) -> Option<Sym>) -> Option<Ints> {
        let shape = broadcast(&self.shape, &other.shape)?;
        let (a, b) = (self.expand(&shape)?, other.expand(&shape)?);
        let values = a.values.iter().zip(&b.values).map(|(x, y)| f(x, y)).collect::<Option<Vec<_>>>()?;
        Some(Ints::new(dtype, shape, values))
    }
    /// Broadcast to extents that it is compatible with.
    pub(crate) fn expand(&self, shape: &[usize]) -> Option<Ints> {
        if self.shape == shape {
            return Some(self.clone());
        }
        let shape = broadcast(&self.shape, shape)?;
        let count = bounded(&shape)?;
        let lead = shape.len() - self.shape.len();
        let strides = strides(&self.shape);
        let source = |at: usize| {
            let index = unravel(at, &shape);
            (0..self.shape.len()).map(|d| if self.shape[d] == 1 { 0 } else { index[lead + d] * strides[d] }).sum::<usize>()
        };
        let values = (0..count).map(|at| self.values[source(at)].clone()).collect();
        Some(self.with(shape, values))
    }
    /// Joined along an axis.
    pub(crate) fn concat(parts: &[Ints], axis: usize) -> Option<Ints> {
        let first = parts.first()?;
        let same = |p: &Ints| {
            p.dtype == first.dtype
                && p.shape.len() == first.shape.len()
                && (0..p.shape.len()).all(|d| d == axis || p.shape[d] == first.shape[d])
        };
        if axis >= first.shape.len() || !parts.iter().all(same) {
            return None;
        }
        let mut shape = first.shape.clone();
        shape[axis] = parts.iter().map(|p| p.shape[axis]).sum();
        bounded(&shape)?;
        let outer: usize = shape[..axis].iter().product();
        let inner: usize = shape[axis + 1..].iter().product();
        let rows = (0..outer).flat_map(|o| {
            parts.iter().flat_map(move |p| {
                let n = p.shape[axis] * inner;
                p.values[o * n..(o + 1) * n].iter().cloned()
            })
        });
        Some(first.with(shape, rows.collect()))
    }
    /// Elements at `positions` of an axis, which gets their count.
    pub(crate) fn take(&self, axis: usize, positions: &[usize]) -> Option<Ints> {
        let n = *self.shape.get(axis)?;
        if positions.iter().any(|&p| p >= n) {
            return None;
        }
        let mut shape = self.shape.clone();
        shape[axis] = positions.len();
        bounded(&shape)?;
        let inner: usize = shape[axis + 1..].iter().product();
        let outer: usize = shape[..axis].iter().product();
        let mut values = Vec::with_capacity(outer * positions.len() * inner);
        for o in 0..outer {
            for &p in positions {
                let at = (o * n + p) * inner;
                values.extend_from_slice(&self.values[at..at + inner]);
            }
        }
        Some(self.with(shape, values))
    }
}

/// Element count, if it is small enough to track.
pub(crate) fn bounded(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).filter(|&n| n <= MAX_INTS)
}

/// Numpy broadcast of constant extents.
fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let at = |s: &[usize], i: usize| if i + s.len() < rank { 1 } else { s[i + s.len() - rank] };
    (0..rank)
        .map(|i| match (at(a, i), at(b, i)) {
            (x, y) if x == y => Some(x),
            (1, y) => Some(y),
            (x, 1) => Some(x),
            _ => None,
        })
        .collect()
}

fn strides(shape: &[usize]) -> Vec<usize> {
    (0..shape.len()).map(|d| shape[d + 1..].iter().product()).collect()
}

fn unravel(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for d in (0..shape.len()).rev() {
        index[d] = at % shape[d];
        at /= shape[d];
    }
    index
}

/// 1 or 0.
pub(crate) fn flag(b: bool) -> Sym {
    Sym::from(i64::from(b))
}

/// Whether a value is not zero, if that can be decided.
pub(crate) fn truth(v: &Sym, facts: &Facts) -> Option<bool> {
    equal(v, &Sym::ZERO, facts).map(|zero| !zero)
}

/// Whether two integers are equal, if that can be decided.
pub(crate) fn equal(a: &Sym, b: &Sym, facts: &Facts) -> Option<bool> {
    if a == b || facts.proves_eq(a, b) {
        return Some(true);
    }
    let difference = (a - b).as_int();
    let differ = difference.is_some_and(|d| d != 0) || facts.proves_lt(a, b) || facts.proves_lt(b, a);
    differ.then_some(false)
}

/// Whether `a < b`, if that can be decided.
pub(crate) fn less(a: &Sym, b: &Sym, facts: &Facts) -> Option<bool> {
    if facts.proves_lt(a, b) {
        return Some(true);
    }
    facts.proves_ge(a, b).then_some(false)
}

/// Quotient truncated toward zero, where it can be written as a floor division.
pub(crate) fn div(a: &Sym, b: &Sym, facts: &Facts) -> Option<Sym> {
    match (a.as_int(), b.as_int()) {
        (_, Some(0)) => None,
        (Some(x), Some(y)) => x.checked_div(y).map(Sym::from),
        (_, Some(1)) => Some(a.clone()),
        _ => (facts.proves_ge(a, &Sym::ZERO) && facts.proves_ge(b, &Sym::ONE)).then(|| a.floor_div(b)),
    }
}

/// Remainder with the divisor's sign, for positive divisors.
pub(crate) fn modulo(a: &Sym, b: &Sym, facts: &Facts) -> Option<Sym> {
    facts.proves_ge(b, &Sym::ONE).then(|| a.modulo(b))
}

/// Whether a conversion keeps the value; symbolic values are extents and fit 32 bits or a float's integers.
fn fits(v: &Sym, from: DType, to: DType) -> bool {
    match v.as_int() {
        Some(n) => Scalar::from_i64(to, n).as_f64() == n as f64 && n.unsigned_abs() < 1 << 53,
        None => from == to || matches!(to, DType::I32 | DType::U32 | DType::F32 | DType::F64),
    }
}
