//! What ops accept as shapes, dims and indices.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use base::{Error, Result};
use scalar::{Shape, Sym};
use smallvec::SmallVec;

/// Something that reads as a list of extents: arrays, slices and vectors of `usize`, `i64`, `i32` or [`Sym`].
///
/// In [`Tensor::reshape`](crate::Tensor::reshape), one extent may be −1: it is computed.
pub trait IntoShape {
    /// The extents.
    fn into_shape(self) -> Shape;
}

/// One extent.
pub trait IntoSym {
    /// The extent as a symbolic integer.
    fn into_sym(self) -> Sym;
}

macro_rules! extents {
    ($($t:ty),*) => {
        $(impl IntoSym for $t {
            fn into_sym(self) -> Sym {
                Sym::from(self as i64)
            }
        })*
    };
}
extents!(usize, i64, i32, u32);

impl IntoSym for Sym {
    fn into_sym(self) -> Sym {
        self
    }
}
impl IntoSym for &Sym {
    fn into_sym(self) -> Sym {
        self.clone()
    }
}

impl<T: IntoSym, const N: usize> IntoShape for [T; N] {
    fn into_shape(self) -> Shape {
        self.into_iter().map(IntoSym::into_sym).collect()
    }
}
impl<T: IntoSym + Clone, const N: usize> IntoShape for &[T; N] {
    fn into_shape(self) -> Shape {
        self.iter().cloned().map(IntoSym::into_sym).collect()
    }
}
impl<T: IntoSym + Clone> IntoShape for &[T] {
    fn into_shape(self) -> Shape {
        self.iter().cloned().map(IntoSym::into_sym).collect()
    }
}
impl<T: IntoSym> IntoShape for Vec<T> {
    fn into_shape(self) -> Shape {
        self.into_iter().map(IntoSym::into_sym).collect()
    }
}
impl<T: IntoSym + Clone> IntoShape for &Vec<T> {
    fn into_shape(self) -> Shape {
        self.as_slice().into_shape()
    }
}
impl IntoShape for Shape {
    fn into_shape(self) -> Shape {
        self
    }
}
impl IntoShape for &Shape {
    fn into_shape(self) -> Shape {
        self.clone()
    }
}
impl IntoShape for () {
    fn into_shape(self) -> Shape {
        Shape::new()
    }
}

/// Which dims an op works on: `..` for all, one dim, or a list; negative dims count from the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dims(Option<SmallVec<[i64; 4]>>);

impl Dims {
    /// Ascending, non-negative, distinct axes.
    pub(crate) fn resolve(&self, rank: usize) -> Result<SmallVec<[usize; 4]>> {
        let Some(dims) = &self.0 else { return Ok((0..rank).collect()) };
        let mut axes = dims.iter().map(|&d| axis(d, rank)).collect::<Result<SmallVec<[usize; 4]>>>()?;
        axes.sort_unstable();
        if axes.windows(2).any(|w| w[0] == w[1]) {
            return Err(Error::invalid(format!("dims {dims:?} name one dim twice")));
        }
        Ok(axes)
    }
    /// Whether all dims are meant.
    pub(crate) fn is_all(&self) -> bool {
        self.0.is_none()
    }
}

impl From<RangeFull> for Dims {
    fn from(_: RangeFull) -> Dims {
        Dims(None)
    }
}
impl From<i64> for Dims {
    fn from(d: i64) -> Dims {
        Dims(Some([d].into_iter().collect()))
    }
}
impl<const N: usize> From<[i64; N]> for Dims {
    fn from(d: [i64; N]) -> Dims {
        Dims(Some(d.into_iter().collect()))
    }
}
impl From<&[i64]> for Dims {
    fn from(d: &[i64]) -> Dims {
        Dims(Some(d.iter().copied().collect()))
    }
}

/// A non-negative axis below `rank`; negative dims count from the end. A 0-d tensor has dims 0 and −1, as in PyTorch.
pub(crate) fn axis(dim: i64, rank: usize) -> Result<usize> {
    let n = rank as i64;
    let at = if dim < 0 { dim + n } else { dim };
    if (0..n).contains(&at) {
        return Ok(at as usize);
    }
    Err(Error::invalid(format!("dim {dim} is out of range for rank {rank} (use {} to {})", -n, n - 1)))
}

/// One entry of an index: a number, a range, `..` or [`NewAxis`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Index {
    /// One position; the dim disappears.
    At(Sym),
    /// Positions from a start to an optional end (exclusive); ends beyond the extent are clamped.
    Span(Sym, Option<Sym>),
    /// A new dim of extent 1.
    New,
}

/// In [`Tensor::i`](crate::Tensor::i), inserts a dim of extent 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewAxis;

impl From<NewAxis> for Index {
    fn from(_: NewAxis) -> Index {
        Index::New
    }
}
impl From<RangeFull> for Index {
    fn from(_: RangeFull) -> Index {
        Index::Span(Sym::from(0i64), None)
    }
}

/// The end of a range that includes its last element; −1 includes the very last, which no number after it can say.
fn past(last: Sym) -> Sym {
    if last.as_int() == Some(-1) { Sym::from(i64::MAX) } else { last + 1 }
}

macro_rules! index {
    ($($t:ty),*) => {
        $(
            impl From<$t> for Index {
                fn from(v: $t) -> Index {
                    Index::At(v.into_sym())
                }
            }
            impl From<Range<$t>> for Index {
                fn from(r: Range<$t>) -> Index {
                    Index::Span(r.start.into_sym(), Some(r.end.into_sym()))
                }
            }
            impl From<RangeFrom<$t>> for Index {
                fn from(r: RangeFrom<$t>) -> Index {
                    Index::Span(r.start.into_sym(), None)
                }
            }
            impl From<RangeTo<$t>> for Index {
                fn from(r: RangeTo<$t>) -> Index {
                    Index::Span(Sym::from(0i64), Some(r.end.into_sym()))
                }
            }
            impl From<RangeToInclusive<$t>> for Index {
                fn from(r: RangeToInclusive<$t>) -> Index {
                    Index::Span(Sym::from(0i64), Some(past(r.end.into_sym())))
                }
            }
            impl From<RangeInclusive<$t>> for Index {
                fn from(r: RangeInclusive<$t>) -> Index {
                    let (lo, hi) = r.into_inner();
                    Index::Span(lo.into_sym(), Some(past(hi.into_sym())))
                }
            }
        )*
    };
}
index!(i64, i32, usize, Sym);

/// A list of [`Index`] entries: one entry, an array, or a tuple of up to five.
pub trait IntoIndex {
    /// The entries, for the leading dims.
    fn into_index(self) -> Vec<Index>;
}

impl<T: Into<Index>> IntoIndex for T {
    fn into_index(self) -> Vec<Index> {
        vec![self.into()]
    }
}

macro_rules! index_tuples {
    ($($name:ident),*) => {
        impl<$($name: Into<Index>),*> IntoIndex for ($($name,)*) {
            #[allow(non_snake_case)]
            fn into_index(self) -> Vec<Index> {
                let ($($name,)*) = self;
                vec![$($name.into()),*]
            }
        }
    };
}
index_tuples!(A);
index_tuples!(A, B);
index_tuples!(A, B, C);
index_tuples!(A, B, C, D);
index_tuples!(A, B, C, D, E);
