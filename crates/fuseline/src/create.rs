//! Making tensors.

use base::{Error, Result};
use graph::HostTensor;
use scalar::{DType, Scalar, Sym};

use crate::element::{Element, Nested};
use crate::op::Op;
use crate::promote::Number;
use crate::random::{self, Generator};
use crate::shape::{IntoShape, IntoSym};
use crate::symbolic;
use crate::tensor::{Recorded, Tensor, user_op};

/// Host data of elements in row-major order.
fn host<T: Element>(shape: &[usize], values: &[T]) -> Result<HostTensor> {
    let want = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
    if want != Some(values.len()) {
        return Err(Error::invalid(format!("shape {shape:?} does not hold {} values", values.len())));
    }
    Ok(HostTensor::from_scalars(T::DTYPE, shape, values.iter().map(|v| v.to_scalar())))
}

fn nested<D: Nested>(data: &D) -> Recorded<Tensor> {
    let mut shape = Vec::new();
    data.extents(&mut shape);
    let mut values = Vec::new();
    data.collect(&shape, &mut values)?;
    Ok(Tensor::from_host(host(&shape, &values)?))
}

/// Extents as numbers, for tensors that need memory now.
fn numbers(shape: impl IntoShape) -> Result<Vec<usize>> {
    let extent = |n: &Sym| symbolic::number(n).and_then(|v| usize::try_from(v).ok());
    let shape = shape.into_shape();
    let all: Option<Vec<usize>> = shape.iter().map(extent).collect();
    let all = all.ok_or_else(|| Error::invalid(format!("extents must be numbers of at least 0, got {shape:?}")))?;
    match all.iter().try_fold(8usize, |n, &d| n.checked_mul(d)).filter(|&bytes| bytes <= isize::MAX as usize) {
        Some(_) => Ok(all),
        None => Err(Error::invalid(format!("a tensor of shape {all:?} does not fit memory"))),
    }
}

fn full(shape: impl IntoShape, value: Number, dtype: DType) -> Recorded<Tensor> {
    let shape = shape.into_shape();
    if shape.iter().any(|n| n.as_int().is_some_and(|n| n < 0)) {
        return Err(Error::invalid(format!("extents must be at least 0, got {shape:?}")).into());
    }
    Ok(Tensor::constant(value, dtype).expand(shape))
}

/// A tensor of `n` values made one by one.
fn fill(shape: impl IntoShape, dtype: DType, value: impl Fn(u64) -> Scalar) -> Recorded<Tensor> {
    let shape = shape.into_shape();
    let extents = numbers(&shape)?;
    let n = extents.iter().product::<usize>() as u64;
    Ok(Tensor::from_host_as(HostTensor::from_scalars(dtype, &extents, (0..n).map(value)), shape))
}

impl Tensor {
    /// From nested arrays, slices or vectors of numbers or bools; the dtype is the Rust type's.
    ///
    /// ```
    /// use fuseline::{DType, Tensor};
    /// let x = Tensor::new([[1i64, 2], [3, 4]]);
    /// assert_eq!((x.dtype(), x.shape()), (DType::I64, vec![2, 2]));
    /// ```
    #[track_caller]
    pub fn new(data: impl Nested) -> Tensor {
        user_op("tensor", || nested(&data))
    }
    /// From values in row-major order.
    #[track_caller]
    pub fn from_slice<T: Element>(values: &[T], shape: impl IntoShape) -> Tensor {
        let shape = shape.into_shape();
        user_op("from_slice", || Ok(Tensor::from_host(host(&numbers(&shape)?, values)?)))
    }
    /// From values in row-major order.
    #[track_caller]
    pub fn from_vec<T: Element>(values: Vec<T>, shape: impl IntoShape) -> Tensor {
        let shape = shape.into_shape();
        user_op("from_vec", || Ok(Tensor::from_host(host(&numbers(&shape)?, &values)?)))
    }
    /// A 0-d tensor: bool, i64 or f32, as the number is.
    #[track_caller]
    pub fn scalar(value: impl Into<Number>) -> Tensor {
        let value = value.into();
        user_op("scalar", || Ok(Tensor::constant(value, value.dtype())))
    }
    /// Zeros.
    #[track_caller]
    pub fn zeros(shape: impl IntoShape, dtype: DType) -> Tensor {
        let shape = shape.into_shape();
        user_op("zeros", || full(shape, Number::Int(0), dtype))
    }
    /// Ones.
    #[track_caller]
    pub fn ones(shape: impl IntoShape, dtype: DType) -> Tensor {
        let shape = shape.into_shape();
        user_op("ones", || full(shape, Number::Int(1), dtype))
    }
    /// One number everywhere: bool, i64 or f32, as the number is.
    #[track_caller]
    pub fn full(shape: impl IntoShape, value: impl Into<Number>) -> Tensor {
        let (shape, value) = (shape.into_shape(), value.into());
        user_op("full", || full(shape, value, value.dtype()))
    }
    /// Zeros of another tensor's shape and dtype.
    #[track_caller]
    pub fn zeros_like(&self) -> Tensor {
        user_op("zeros_like", || full(self.ok()?.dims(), Number::Int(0), self.dtype()))
    }
    /// Ones of another tensor's shape and dtype.
    #[track_caller]
    pub fn ones_like(&self) -> Tensor {
        user_op("ones_like", || full(self.ok()?.dims(), Number::Int(1), self.dtype()))
    }
    /// `start, start + step, …` below `end`: i64 for integers, f32 if any of them is a float.
    ///
    /// ```
    /// use fuseline::Tensor;
    /// assert_eq!(Tensor::arange(1, 7, 2).to_vec::<i64>()?, [1, 3, 5]);
    /// assert_eq!(Tensor::arange(0, 1, 0.25).to_vec::<f32>()?, [0.0, 0.25, 0.5, 0.75]);
    /// # Ok::<(), fuseline::Error>(())
    /// ```
    #[track_caller]
    pub fn arange(start: impl Into<Number>, end: impl Into<Number>, step: impl Into<Number>) -> Tensor {
        let (start, end, step) = (start.into(), end.into(), step.into());
        user_op("arange", || arange(start, end, step))
    }
    /// 0 to `n` − 1 as i64; `n` may be symbolic.
    #[track_caller]
    pub fn iota(n: impl IntoSym) -> Tensor {
        let n = n.into_sym();
        user_op("iota", || Tensor::apply(Op::Iota(n), &[]))
    }
    /// A symbolic extent as a 0-d i64 tensor.
    #[track_caller]
    pub fn sym(n: impl IntoSym) -> Tensor {
        let n = n.into_sym();
        user_op("sym", || match n.as_int() {
            Some(n) => Ok(Tensor::constant(Number::Int(n), DType::I64)),
            None => Tensor::apply(Op::Size(n), &[]),
        })
    }
    /// `steps` evenly spaced f32 values from `start` to `end`, both included.
    #[track_caller]
    pub fn linspace(start: f64, end: f64, steps: usize) -> Tensor {
        let step = if steps > 1 { (end - start) / (steps - 1) as f64 } else { 0.0 };
        // From the nearer end, so that both ends are exact.
        let value = |i: u64| {
            if (i as usize) < steps.div_ceil(2) { start + step * i as f64 } else { end - step * (steps as u64 - 1 - i) as f64 }
        };
        user_op("linspace", || fill([steps], DType::F32, |i| Scalar::from_f64(DType::F32, value(i))))
    }
    /// The `n` × `n` identity matrix.
    #[track_caller]
    pub fn eye(n: usize, dtype: DType) -> Tensor {
        user_op("eye", || {
            let i = Tensor::iota(n);
            i.unsqueeze(1).eq(&i).cast_to(dtype)
        })
    }
    /// Uniform f32 values in [0, 1) from the default generator.
    #[track_caller]
    pub fn rand(shape: impl IntoShape) -> Tensor {
        let shape = shape.into_shape();
        user_op("rand", || rand(shape, DType::F32, &Generator::default()))
    }
    /// Standard normal f32 values from the default generator.
    #[track_caller]
    pub fn randn(shape: impl IntoShape) -> Tensor {
        let shape = shape.into_shape();
        user_op("randn", || randn(shape, DType::F32, &Generator::default()))
    }
    /// Integers in `[low, high)` as i64 from the default generator.
    #[track_caller]
    pub fn randint(low: i64, high: i64, shape: impl IntoShape) -> Tensor {
        let shape = shape.into_shape();
        user_op("randint", || randint(low, high, shape, &Generator::default()))
    }
}

impl Generator {
    /// Uniform values in [0, 1) of a float dtype.
    #[track_caller]
    pub fn rand(&self, shape: impl IntoShape, dtype: DType) -> Tensor {
        let shape = shape.into_shape();
        user_op("rand", || rand(shape, dtype, self))
    }
    /// Standard normal values of a float dtype.
    #[track_caller]
    pub fn randn(&self, shape: impl IntoShape, dtype: DType) -> Tensor {
        let shape = shape.into_shape();
        user_op("randn", || randn(shape, dtype, self))
    }
    /// Integers in `[low, high)` as i64.
    #[track_caller]
    pub fn randint(&self, low: i64, high: i64, shape: impl IntoShape) -> Tensor {
        let shape = shape.into_shape();
        user_op("randint", || randint(low, high, shape, self))
    }
}

fn arange(start: Number, end: Number, step: Number) -> Recorded<Tensor> {
    let float = |n: Number| match n {
        Number::Bool(v) => f64::from(u8::from(v)),
        Number::Int(v) => v as f64,
        Number::Float(v) => v,
    };
    let (s, e, d) = (float(start), float(end), float(step));
    let count = ((e - s) / d).ceil();
    if d == 0.0 || !count.is_finite() || (e - s) / d < 0.0 {
        return Err(Error::invalid(format!("cannot step from {s} to {e} by {d}")).into());
    }
    match (start, end, step) {
        (Number::Int(s), Number::Int(_), Number::Int(d)) => {
            fill([count as usize], DType::I64, |i| Scalar::i64(s.wrapping_add(d.wrapping_mul(i as i64))))
        }
        _ => fill([count as usize], DType::F32, |i| Scalar::from_f64(DType::F32, s + d * i as f64)),
    }
}

fn float_dtype(dtype: DType) -> Result<()> {
    if dtype.is_float() { Ok(()) } else { Err(Error::invalid(format!("random floats cannot have dtype {dtype}"))) }
}

fn rand(shape: impl IntoShape, dtype: DType, generator: &Generator) -> Recorded<Tensor> {
    float_dtype(dtype)?;
    let key = generator.next_key();
    fill(shape, dtype, |i| Scalar::from_f64(dtype, random::uniform(key, i, dtype)))
}

fn randn(shape: impl IntoShape, dtype: DType, generator: &Generator) -> Recorded<Tensor> {
    float_dtype(dtype)?;
    let key = generator.next_key();
    fill(shape, dtype, |i| Scalar::from_f64(dtype, random::normal(key, i)))
}

fn randint(low: i64, high: i64, shape: impl IntoShape, generator: &Generator) -> Recorded<Tensor> {
    if low >= high {
        return Err(Error::invalid(format!("there is no integer in [{low}, {high})")).into());
    }
    let key = generator.next_key();
    fill(shape, DType::I64, |i| Scalar::i64(random::integer(key, i, low, high)))
}
