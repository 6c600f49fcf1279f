//! `sort` and `topk`: ordering along one axis, with PyTorch's rules (NaN is greatest; equal elements keep their order).

use std::cmp::Ordering;

use base::{Error, Result};
use scalar::{DType, Scalar, Sym};

use super::Attrs;
use crate::text::did_you_mean;
use crate::{HostTensor, TensorType};

/// `sort{axis, descending = 0, stable = 1}`: values, and their i64 positions along the axis. Always stable.
pub(super) fn infer_sort(args: &[&TensorType], attrs: &Attrs) -> Result<Vec<TensorType>, String> {
    known("sort", attrs, &["axis", "descending", "stable"])?;
    let (x, _) = operand("sort", args, attrs)?;
    Ok(vec![x.clone(), TensorType { dtype: DType::I64, shape: x.shape.clone() }])
}

/// `topk{axis, k, largest = 1, sorted = 1}`: the `k` greatest (or least) along the axis in order, and their i64 positions.
pub(super) fn infer_topk(args: &[&TensorType], attrs: &Attrs) -> Result<Vec<TensorType>, String> {
    known("topk", attrs, &["axis", "k", "largest", "sorted"])?;
    let (x, axis) = operand("topk", args, attrs)?;
    let k = *attrs.get("k").ok_or("topk needs the attribute k")?;
    if k < 0 || x.shape[axis].as_int().is_some_and(|n| k > n) {
        return Err(format!("k = {k} is out of range for axis {axis} of extent {}", x.shape[axis]));
    }
    let mut shape = x.shape.clone();
    shape[axis] = Sym::from(k);
    Ok(vec![TensorType { dtype: x.dtype, shape: shape.clone() }, TensorType { dtype: DType::I64, shape }])
}

pub(super) fn eval_sort(args: &[HostTensor], attrs: &Attrs) -> Result<Vec<HostTensor>> {
    let axis = axis_of(args, attrs)?;
    select(&args[0], axis, args[0].shape()[axis], flag(attrs, "descending", false))
}

pub(super) fn eval_topk(args: &[HostTensor], attrs: &Attrs) -> Result<Vec<HostTensor>> {
    let axis = axis_of(args, attrs)?;
    let n = args[0].shape()[axis];
    let k = attrs.get("k").and_then(|&k| usize::try_from(k).ok()).filter(|&k| k <= n);
    let k = k.ok_or_else(|| Error::invalid(format!("k = {:?} is out of range for axis {axis} of extent {n}", attrs.get("k"))))?;
    select(&args[0], axis, k, flag(attrs, "largest", true))
}

fn known(name: &str, attrs: &Attrs, names: &[&str]) -> Result<(), String> {
    match attrs.keys().find(|k| !names.contains(&k.as_str())) {
        Some(k) => Err(format!("{name} has no attribute '{k}'{}", did_you_mean(k, names.iter().copied()))),
        None => Ok(()),
    }
}

fn operand<'a>(name: &str, args: &[&'a TensorType], attrs: &Attrs) -> Result<(&'a TensorType, usize), String> {
    let &[x] = args else { return Err(format!("{name} takes 1 operand, got {}", args.len())) };
    let axis = *attrs.get("axis").ok_or_else(|| format!("{name} needs the attribute axis"))?;
    let rank = x.shape.len();
    match usize::try_from(axis) {
        Ok(axis) if axis < rank => Ok((x, axis)),
        _ => Err(format!("axis {axis} is out of range for rank {rank}")),
    }
}

fn axis_of(args: &[HostTensor], attrs: &Attrs) -> Result<usize> {
    let rank = args.first().map_or(0, |x| x.shape().len());
    let axis = attrs.get("axis").and_then(|&a| usize::try_from(a).ok()).filter(|&a| a < rank);
    axis.ok_or_else(|| Error::invalid(format!("axis {:?} is out of range for rank {rank}", attrs.get("axis"))))
}

fn flag(attrs: &Attrs, name: &str, default: bool) -> bool {
    attrs.get(name).map_or(default, |&v| v != 0)
}

/// The first `k` of each line along `axis` in order, and their positions.
fn select(x: &HostTensor, axis: usize, k: usize, descending: bool) -> Result<Vec<HostTensor>> {
    let n = x.shape()[axis];
    let inner: usize = x.shape()[axis + 1..].iter().product();
    let outer: usize = x.shape()[..axis].iter().product();
    let mut shape = x.shape().to_vec();
    shape[axis] = k;
    let total = outer * k * inner;
    let mut values = vec![Scalar::zero(x.dtype()); total];
    let mut positions = vec![Scalar::i64(0); total];
    for line in 0..outer * inner {
        let (o, i) = (line / inner, line % inner);
        let mut row: Vec<(Scalar, usize)> = (0..n).map(|j| (x.get((o * n + j) * inner + i), j)).collect();
        row.sort_by(|a, b| if descending { order(b.0, a.0) } else { order(a.0, b.0) });
        for (j, &(value, from)) in row[..k].iter().enumerate() {
            values[(o * k + j) * inner + i] = value;
            positions[(o * k + j) * inner + i] = Scalar::i64(from as i64);
        }
    }
    let values = HostTensor::from_scalars(x.dtype(), &shape, values.into_iter());
    Ok(vec![values, HostTensor::from_scalars(DType::I64, &shape, positions.into_iter())])
}

/// Order of two scalars of one dtype: NaN above every number, −0.0 equal to 0.0.
fn order(a: Scalar, b: Scalar) -> Ordering {
    match a.dtype() {
        d if d.is_float() => {
            let (x, y) = (a.as_f64(), b.as_f64());
            x.partial_cmp(&y).unwrap_or_else(|| x.is_nan().cmp(&y.is_nan()))
        }
        DType::U64 => a.bits().cmp(&b.bits()),
        _ => a.as_i64().cmp(&b.as_i64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{eval, lookup};

    fn attrs(pairs: &[(&str, i64)]) -> Attrs {
        pairs.iter().map(|&(k, v)| (k.to_owned(), v)).collect()
    }

    fn ty(dtype: DType, shape: &[i64]) -> TensorType {
        TensorType { dtype, shape: shape.iter().map(|&n| Sym::from(n)).collect() }
    }

    #[test]
    fn sort_is_stable_and_puts_nan_last() {
        let x = HostTensor::from_f64s(DType::F32, &[5], &[2.0, f64::NAN, -0.0, 0.0, -1.0]);
        let out = eval("sort", std::slice::from_ref(&x), &attrs(&[("axis", 0)])).unwrap();
        assert_eq!(out[1].to_i64s(), [4, 2, 3, 0, 1]);
        assert!(out[0].get(4).as_f64().is_nan());
        let out = eval("sort", &[x], &attrs(&[("axis", 0), ("descending", 1)])).unwrap();
        assert_eq!(out[1].to_i64s(), [1, 0, 2, 3, 4]);
    }

    #[test]
    fn sort_along_a_middle_axis() {
        let x = HostTensor::from_i64s(DType::I32, &[2, 3, 2], &[5, 0, 3, 1, 4, 2, 9, 7, 8, 8, 7, 9]);
        let out = eval("sort", &[x], &attrs(&[("axis", 1)])).unwrap();
        assert_eq!(out[0].to_i64s(), [3, 0, 4, 1, 5, 2, 7, 7, 8, 8, 9, 9]);
        assert_eq!(out[1].to_i64s(), [1, 0, 2, 1, 0, 2, 2, 0, 1, 1, 0, 2]);
    }

    #[test]
    fn unsigned_64_bit_orders_by_value() {
        let big = Scalar::from_bits(DType::U64, u64::MAX);
        let x = HostTensor::from_scalars(DType::U64, &[2], [big, Scalar::from_i64(DType::U64, 1)].into_iter());
        let out = eval("sort", &[x], &attrs(&[("axis", 0)])).unwrap();
        assert_eq!(out[0].get(1), big);
    }

    #[test]
    fn topk_takes_greatest_or_least() {
        let x = HostTensor::from_f64s(DType::F32, &[2, 4], &[1.0, 4.0, 3.0, 4.0, 0.0, -1.0, 7.0, 2.0]);
        let out = eval("topk", std::slice::from_ref(&x), &attrs(&[("axis", 1), ("k", 2)])).unwrap();
        assert_eq!(out[0].shape(), [2, 2]);
        assert_eq!(out[0].to_f64s(), [4.0, 4.0, 7.0, 2.0]);
        assert_eq!(out[1].to_i64s(), [1, 3, 2, 3]);
        let out = eval("topk", std::slice::from_ref(&x), &attrs(&[("axis", 1), ("k", 1), ("largest", 0)])).unwrap();
        assert_eq!(out[1].to_i64s(), [0, 1]);
        let out = eval("topk", &[x], &attrs(&[("axis", 1), ("k", 0)])).unwrap();
        assert!(out[0].is_empty());
    }

    #[test]
    fn empty_lines_sort() {
        let x = HostTensor::from_f64s(DType::F32, &[3, 0], &[]);
        assert!(eval("sort", &[x], &attrs(&[("axis", 0)])).unwrap()[0].is_empty());
    }

    #[test]
    fn wrong_attributes_are_named() {
        let x = ty(DType::F32, &[2, 4]);
        let infer = |name: &str, a: &[(&str, i64)]| (lookup(name).unwrap().infer)(&[&x], &attrs(a)).unwrap_err();
        assert_eq!(infer("topk", &[("axis", 1), ("k", 5)]), "k = 5 is out of range for axis 1 of extent 4");
        assert_eq!(infer("sort", &[("axis", 2)]), "axis 2 is out of range for rank 2");
        assert_eq!(infer("sort", &[("axes", 0)]), "sort has no attribute 'axes'; did you mean 'axis'?");
        assert!(eval("srot", &[], &attrs(&[])).unwrap_err().to_string().contains("did you mean 'sort'?"));
    }
}
