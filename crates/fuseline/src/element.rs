//! Rust types as tensor elements.

use half::{bf16, f16};
use scalar::{DType, Scalar};

/// A Rust type that a tensor can hold.
pub trait Element: Copy + Send + Sync + 'static {
    /// Its dtype.
    const DTYPE: DType;
    /// As a typed constant.
    fn to_scalar(self) -> Scalar;
    /// From a constant of any dtype, converted as a cast would.
    fn from_scalar(value: Scalar) -> Self;
}

macro_rules! elements {
    ($($t:ty => $dtype:ident: |$v:ident| $bits:expr, |$s:ident| $from:expr;)*) => {
        $(impl Element for $t {
            const DTYPE: DType = DType::$dtype;
            fn to_scalar(self) -> Scalar {
                let $v = self;
                Scalar::from_bits(DType::$dtype, $bits)
            }
            fn from_scalar($s: Scalar) -> $t {
                $from
            }
        })*
    };
}

fn cast(value: Scalar, to: DType) -> Scalar {
    if value.dtype() == to {
        value
    } else if value.dtype().is_float() {
        Scalar::from_f64(to, value.as_f64())
    } else if value.dtype() == DType::U64 && to.is_float() {
        Scalar::from_f64(to, value.bits() as f64)
    } else {
        Scalar::from_i64(to, value.as_i64())
    }
}

elements! {
    bool => Bool: |v| u64::from(v), |s| s.is_true();
    i8 => I8: |v| v as u64, |s| cast(s, DType::I8).bits() as i8;
    u8 => U8: |v| u64::from(v), |s| cast(s, DType::U8).bits() as u8;
    i16 => I16: |v| v as u64, |s| cast(s, DType::I16).bits() as i16;
    u16 => U16: |v| u64::from(v), |s| cast(s, DType::U16).bits() as u16;
    i32 => I32: |v| v as u64, |s| cast(s, DType::I32).bits() as i32;
    u32 => U32: |v| u64::from(v), |s| cast(s, DType::U32).bits() as u32;
    i64 => I64: |v| v as u64, |s| cast(s, DType::I64).bits() as i64;
    u64 => U64: |v| v, |s| cast(s, DType::U64).bits();
    f16 => F16: |v| u64::from(v.to_bits()), |s| f16::from_bits(cast(s, DType::F16).bits() as u16);
    bf16 => BF16: |v| u64::from(v.to_bits()), |s| bf16::from_bits(cast(s, DType::BF16).bits() as u16);
    f32 => F32: |v| u64::from(v.to_bits()), |s| f32::from_bits(cast(s, DType::F32).bits() as u32);
    f64 => F64: |v| v.to_bits(), |s| f64::from_bits(cast(s, DType::F64).bits());
}

/// Nested arrays and vectors of elements: `[[1.0, 2.0], [3.0, 4.0]]`.
pub trait Nested {
    /// Element type at the bottom.
    type Item: Element;
    /// Appends the extents of this level and the levels below.
    fn extents(&self, shape: &mut Vec<usize>);
    /// Appends the elements in row-major order, checking that they have the shape.
    ///
    /// # Errors
    /// A row whose length differs from its siblings'.
    fn collect(&self, shape: &[usize], out: &mut Vec<Self::Item>) -> base::Result<()>;
}

impl<T: Element> Nested for T {
    type Item = T;
    fn extents(&self, _: &mut Vec<usize>) {}
    fn collect(&self, _: &[usize], out: &mut Vec<T>) -> base::Result<()> {
        out.push(*self);
        Ok(())
    }
}

fn collect_rows<T: Nested>(rows: &[T], shape: &[usize], out: &mut Vec<T::Item>) -> base::Result<()> {
    if rows.len() != shape[0] {
        return Err(base::Error::invalid(format!(
            "ragged nested data: a row has {} elements, the first has {}",
            rows.len(),
            shape[0]
        )));
    }
    rows.iter().try_for_each(|row| row.collect(&shape[1..], out))
}

macro_rules! nested {
    ([$($params:tt)*] $t:ty) => {
        impl<T: Nested, $($params)*> Nested for $t {
            type Item = T::Item;
            fn extents(&self, shape: &mut Vec<usize>) {
                shape.push(self.len());
                if let Some(first) = self.first() {
                    first.extents(shape);
                }
            }
            fn collect(&self, shape: &[usize], out: &mut Vec<T::Item>) -> base::Result<()> {
                collect_rows(&self[..], shape, out)
            }
        }
    };
}
nested!([] Vec<T>);
nested!([] & [T]);
nested!([const N: usize] [T; N]);
nested!([const N: usize] &[T; N]);
