//! Values of the interpreter: strided views of shared data in four storage kinds.

use std::borrow::Cow;
use std::sync::Arc;

use base::Result;
use half::{bf16, f16};
use scalar::f8::{E4M3, E5M2};
use scalar::{DType, Scalar};

use super::layout::Layout;
use crate::HostTensor;

/// Elements. Integers of every width are kept as i64 (u64 by its bits), floats of fewer bits than f32 as the f32 of equal value;
/// in wide mode every float is f64.
#[derive(Clone, Debug)]
pub(crate) enum Data {
    Bool(Vec<bool>),
    Int(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
}

/// How elements are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Int,
    F32,
    F64,
}

/// Storage kind of a dtype.
pub(crate) fn kind(dtype: DType, wide: bool) -> Kind {
    match dtype {
        DType::Bool => Kind::Bool,
        DType::F64 => Kind::F64,
        d if d.is_float() && wide => Kind::F64,
        d if d.is_float() => Kind::F32,
        _ => Kind::Int,
    }
}

/// One of the four storage element types.
pub(crate) trait Element: Copy + PartialOrd + Send + Sync + 'static {
    const ZERO: Self;
    fn of(data: &Data) -> &[Self];
    fn wrap(values: Vec<Self>) -> Data;
    fn from_scalar(s: Scalar) -> Self;
    fn to_scalar(self, dtype: DType) -> Scalar;
}

macro_rules! element {
    ($t:ty, $variant:ident, $zero:expr, $from:expr, $to:expr) => {
        impl Element for $t {
            const ZERO: Self = $zero;
            fn of(data: &Data) -> &[Self] {
                match data {
                    Data::$variant(v) => v,
                    other => panic!("expected {} elements, got {}", stringify!($variant), other.name()),
                }
            }
            fn wrap(values: Vec<Self>) -> Data {
                Data::$variant(values)
            }
            fn from_scalar(s: Scalar) -> Self {
                $from(s)
            }
            fn to_scalar(self, dtype: DType) -> Scalar {
                $to(self, dtype)
            }
        }
    };
}
element!(bool, Bool, false, Scalar::is_true, |v: bool, _| Scalar::bool(v));
element!(i64, Int, 0, Scalar::as_i64, |v: i64, d| Scalar::from_i64(d, v));
element!(f32, F32, 0.0, |s: Scalar| s.as_f64() as f32, |v: f32, d| Scalar::from_f64(d, f64::from(v)));
element!(f64, F64, 0.0, Scalar::as_f64, |v: f64, d| match d {
    DType::F64 => Scalar::from_f64(d, v),
    d => Scalar::from_f64(d, f64::from(round(d, v))),
});

/// Runs `$body` with `$t` the element type of a storage kind.
macro_rules! with_kind {
    ($kind:expr, $t:ident => $body:expr) => {
        match $kind {
            $crate::interp::value::Kind::Bool => {
                type $t = bool;
                $body
            }
            $crate::interp::value::Kind::Int => {
                type $t = i64;
                $body
            }
            $crate::interp::value::Kind::F32 => {
                type $t = f32;
                $body
            }
            $crate::interp::value::Kind::F64 => {
                type $t = f64;
                $body
            }
        }
    };
}
pub(crate) use with_kind;

impl Data {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Data::Bool(_) => Kind::Bool,
            Data::Int(_) => Kind::Int,
            Data::F32(_) => Kind::F32,
            Data::F64(_) => Kind::F64,
        }
    }
    fn name(&self) -> &'static str {
        match self.kind() {
            Kind::Bool => "bool",
            Kind::Int => "int",
            Kind::F32 => "f32",
            Kind::F64 => "f64",
        }
    }
}

/// A tensor value: shared data seen through a layout.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) dtype: DType,
    pub(crate) data: Arc<Data>,
    pub(crate) layout: Layout,
}

impl Value {
    /// Row-major data of a shape.
    pub(crate) fn dense(dtype: DType, shape: Vec<usize>, data: Data) -> Value {
        Value { dtype, data: Arc::new(data), layout: Layout::dense(shape) }
    }
    /// The same data through another layout.
    pub(crate) fn with_layout(&self, layout: Layout) -> Value {
        Value { dtype: self.dtype, data: self.data.clone(), layout }
    }
    /// A 0-d value.
    pub(crate) fn scalar(s: Scalar, wide: bool) -> Value {
        let data = with_kind!(kind(s.dtype(), wide), T => T::wrap(vec![T::from_scalar(s)]));
        Value::dense(s.dtype(), Vec::new(), data)
    }
    pub(crate) fn shape(&self) -> &[usize] {
        &self.layout.shape
    }
    pub(crate) fn len(&self) -> usize {
        self.layout.len()
    }
    pub(crate) fn kind(&self) -> Kind {
        self.data.kind()
    }
    /// Elements in row-major order, copied only if they do not lie so already.
    pub(crate) fn elements<T: Element>(&self) -> Cow<'_, [T]> {
        let data = T::of(&self.data);
        if self.layout.is_dense() {
            let start = if self.len() == 0 { 0 } else { self.layout.offset as usize };
            return Cow::Borrowed(&data[start..start + self.len()]);
        }
        Cow::Owned(strided(data, &self.layout))
    }
    /// Elements as f64, row-major.
    pub(crate) fn to_f64s(&self) -> Vec<f64> {
        match self.kind() {
            Kind::Bool => self.elements::<bool>().iter().map(|&v| f64::from(u8::from(v))).collect(),
            Kind::Int if self.dtype == DType::U64 => self.elements::<i64>().iter().map(|&v| v as u64 as f64).collect(),
            Kind::Int => self.elements::<i64>().iter().map(|&v| v as f64).collect(),
            Kind::F32 => self.elements::<f32>().iter().map(|&v| f64::from(v)).collect(),
            Kind::F64 => self.elements::<f64>().into_owned(),
        }
    }
    /// The same elements lying row-major.
    pub(crate) fn compact(&self) -> Value {
        if self.layout.is_dense() {
            return self.clone();
        }
        let data = with_kind!(self.kind(), T => T::wrap(strided(T::of(&self.data), &self.layout)));
        Value::dense(self.dtype, self.shape().to_vec(), data)
    }
    /// The element at a row-major position of a 0-d or dense value.
    pub(crate) fn first<T: Element>(&self) -> T {
        T::of(&self.data)[self.layout.offset as usize]
    }
    /// Reads a host tensor.
    pub(crate) fn from_host(t: &HostTensor, wide: bool) -> Value {
        let (b, d) = (t.bytes(), t.dtype());
        let data = match d {
            DType::Bool => Data::Bool(b.iter().map(|&v| v != 0).collect()),
            DType::I8 => Data::Int(b.iter().map(|&v| i64::from(v as i8)).collect()),
            DType::U8 => Data::Int(b.iter().map(|&v| i64::from(v)).collect()),
            DType::I16 => Data::Int(words(b, |w| i64::from(i16::from_le_bytes(w)))),
            DType::U16 => Data::Int(words(b, |w| i64::from(u16::from_le_bytes(w)))),
            DType::I32 => Data::Int(words(b, |w| i64::from(i32::from_le_bytes(w)))),
            DType::U32 => Data::Int(words(b, |w| i64::from(u32::from_le_bytes(w)))),
            DType::I64 | DType::U64 => Data::Int(words(b, i64::from_le_bytes)),
            DType::F64 => Data::F64(words(b, f64::from_le_bytes)),
            DType::F8E4M3 | DType::F8E5M2 => {
                let value = |&code: &u8| Scalar::from_bits(d, u64::from(code)).as_f64();
                if wide {
                    Data::F64(b.iter().map(value).collect())
                } else {
                    Data::F32(b.iter().map(|c| value(c) as f32).collect())
                }
            }
            DType::F16 if wide => Data::F64(words(b, |w| f16::from_le_bytes(w).to_f64())),
            DType::BF16 if wide => Data::F64(words(b, |w| bf16::from_le_bytes(w).to_f64())),
            DType::F32 if wide => Data::F64(words(b, |w| f64::from(f32::from_le_bytes(w)))),
            DType::F16 => Data::F32(words(b, |w| f16::from_le_bytes(w).to_f32())),
            DType::BF16 => Data::F32(words(b, |w| bf16::from_le_bytes(w).to_f32())),
            DType::F32 => Data::F32(words(b, f32::from_le_bytes)),
        };
        Value::dense(d, t.shape().to_vec(), data)
    }
    /// As a host tensor; wide floats are rounded here.
    ///
    /// # Errors
    /// Never for a well-formed value.
    pub(crate) fn to_host(&self) -> Result<HostTensor> {
        let bytes = match self.kind() {
            Kind::Bool => self.elements::<bool>().iter().map(|&v| u8::from(v)).collect(),
            Kind::Int => int_bytes(self.dtype, &self.elements::<i64>()),
            Kind::F32 => float_bytes(self.dtype, self.elements::<f32>().iter().map(|&v| f64::from(v))),
            Kind::F64 => float_bytes(self.dtype, self.elements::<f64>().iter().copied()),
        };
        HostTensor::from_bytes(self.dtype, self.shape(), bytes)
    }
}

/// The elements of a layout in row-major order.
fn strided<T: Element>(data: &[T], layout: &Layout) -> Vec<T> {
    let mut out = Vec::with_capacity(layout.len());
    layout.rows(|row| match row.stride {
        1 => out.extend_from_slice(&data[row.start as usize..row.start as usize + row.len]),
        0 => out.extend(std::iter::repeat_n(data[row.start as usize], row.len)),
        s => out.extend((0..row.len as isize).map(|i| data[(row.start + i * s) as usize])),
    });
    out
}

fn words<const N: usize, T>(bytes: &[u8], read: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|&w| read(w)).collect()
}

fn int_bytes(dtype: DType, values: &[i64]) -> Vec<u8> {
    let n = dtype.size();
    let mut bytes = Vec::with_capacity(values.len() * n);
    for v in values {
        bytes.extend_from_slice(&v.to_le_bytes()[..n]);
    }
    bytes
}

fn float_bytes(dtype: DType, values: impl Iterator<Item = f64>) -> Vec<u8> {
    match dtype {
        DType::F8E4M3 | DType::F8E5M2 => values.map(|v| Scalar::from_f64(dtype, v).bits() as u8).collect(),
        DType::F16 => values.flat_map(|v| f16::from_f32(v as f32).to_le_bytes()).collect(),
        DType::BF16 => values.flat_map(|v| bf16::from_f32(v as f32).to_le_bytes()).collect(),
        DType::F32 => values.flat_map(|v| (v as f32).to_le_bytes()).collect(),
        _ => values.flat_map(f64::to_le_bytes).collect(),
    }
}

/// Rounds f64 results to a float dtype, or keeps them in wide mode.
pub(crate) fn store_floats(dtype: DType, wide: bool, values: Vec<f64>) -> Data {
    match dtype {
        DType::F64 => Data::F64(values),
        _ if wide => Data::F64(values),
        _ => Data::F32(values.into_iter().map(|v| round(dtype, v)).collect()),
    }
}

/// Rounds to f32, and from there to a float of fewer bits, as the f32 of equal value.
pub(crate) fn round(dtype: DType, v: f64) -> f32 {
    match dtype {
        DType::F8E4M3 => E4M3.round(v as f32),
        DType::F8E5M2 => E5M2.round(v as f32),
        DType::F16 => f16::from_f32(v as f32).to_f32(),
        DType::BF16 => bf16::from_f32(v as f32).to_f32(),
        _ => v as f32,
    }
}

/// Wraps to the width of an integer dtype.
pub(crate) fn wrap(dtype: DType, v: i64) -> i64 {
    match dtype {
        DType::I8 => i64::from(v as i8),
        DType::U8 => i64::from(v as u8),
        DType::I16 => i64::from(v as i16),
        DType::U16 => i64::from(v as u16),
        DType::I32 => i64::from(v as i32),
        DType::U32 => i64::from(v as u32),
        _ => v,
    }
}

/// Wraps i64 results to an integer dtype.
pub(crate) fn store_ints(dtype: DType, mut values: Vec<i64>) -> Data {
    if dtype.size() < 8 {
        values.iter_mut().for_each(|v| *v = wrap(dtype, *v));
    }
    Data::Int(values)
}
