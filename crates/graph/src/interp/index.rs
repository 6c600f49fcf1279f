//! Ops that move elements by index: gather, write, concat, iota.

use std::sync::Arc;

use base::{Error, Result};
use scalar::DType;

use super::Env;
use super::layout::Layout;
use super::value::{Data, Element, Kind, Value, store_floats, store_ints, with_kind};
use super::view::scatter;
use crate::{At, WriteCombine};

/// `[0, 1, …, n − 1]`.
pub(crate) fn iota(n: usize) -> Value {
    Value::dense(DType::I64, vec![n], Data::Int((0..n as i64).collect()))
}

/// Joins values of one kind along `axis` into extents `shape`.
pub(crate) fn concat(parts: &[&Value], axis: usize, shape: &[usize]) -> Value {
    with_kind!(parts[0].kind(), T => concat_of::<T>(parts, axis, shape))
}

fn concat_of<T: Element>(parts: &[&Value], axis: usize, shape: &[usize]) -> Value {
    let whole = Layout::dense(shape.to_vec());
    let mut data = vec![T::ZERO; whole.len()];
    let mut to = whole.clone();
    for part in parts {
        to.shape = part.shape().to_vec();
        scatter(&mut data, &to, &part.elements::<T>(), |_, new| new);
        to.offset += part.shape()[axis] as isize * whole.strides[axis];
    }
    Value { dtype: parts[0].dtype, data: Arc::new(T::wrap(data)), layout: whole }
}

/// Positions read or written through index tensors: `base` runs over the layout of `space` with indexed axes held at 0,
/// and each index adds its stride.
fn indexed_positions(x: &Layout, space: &[usize], axes: &[usize], indices: &[&Value], verb: &str) -> Result<Vec<isize>> {
    let mut base = x.clone();
    base.shape = space.to_vec();
    for &axis in axes {
        base.strides[axis] = 0;
    }
    let mut at = base.table();
    for (&axis, index) in axes.iter().zip(indices) {
        let (limit, stride) = (x.shape[axis] as i64, x.strides[axis]);
        for (at, &i) in at.iter_mut().zip(index.elements::<i64>().iter()) {
            if i < 0 || i >= limit {
                return Err(Error::invalid(format!(
                    "{verb} index {i} on axis {axis}, whose extent is {limit}: indices must be in 0..{limit}"
                )));
            }
            *at += i as isize * stride;
        }
    }
    Ok(at)
}

/// `out[p] = x[p with p[axes] ← idxₖ(p)]`.
pub(crate) fn gather(x: &Value, axes: &[usize], indices: &[&Value]) -> Result<Value> {
    let shape = indices[0].shape().to_vec();
    let at = indexed_positions(&x.layout, &shape, axes, indices, "reads")?;
    let data = with_kind!(x.kind(), T => {
        let from = T::of(&x.data);
        T::wrap(at.iter().map(|&p| from[p as usize]).collect())
    });
    Ok(Value::dense(x.dtype, shape, data))
}

/// The destination with the source combined in. Float combinations of repeated positions accumulate in f64.
pub(crate) fn write(combine: WriteCombine, at: &At, args: &[&Value], env: &Env, wide: bool) -> Result<Value> {
    let (dst, src) = (args[0], args[1]);
    let to = target(at, dst, src, &args[2..], env)?;
    let data = match dst.kind() {
        Kind::Bool => Data::Bool(put(dst, src, &to, bool_op(combine))),
        Kind::Int => store_ints(dst.dtype, put(dst, src, &to, int_op(combine, dst.dtype))),
        _ => store_floats(dst.dtype, wide, put_f64(dst, src, &to, float_op(combine))),
    };
    Ok(Value::dense(dst.dtype, dst.shape().to_vec(), data))
}

/// Positions in the dense destination, in row-major order of the source.
fn target(at: &At, dst: &Value, src: &Value, extra: &[&Value], env: &Env) -> Result<Vec<isize>> {
    let mut to = Layout::dense(dst.shape().to_vec());
    match at {
        At::Indices { axes, .. } => return indexed_positions(&to, src.shape(), axes, extra, "writes"),
        At::Slice { start, step } => {
            for axis in 0..to.shape.len() {
                let (first, n) = (env.int(&start[axis])?, src.shape()[axis] as i64);
                let last = first + (n - 1) * step[axis];
                if n > 0 && (first < 0 || last >= to.shape[axis] as i64) {
                    return Err(Error::invalid(format!(
                        "writes {first}..={last} of axis {axis}, whose extent is {}",
                        to.shape[axis]
                    )));
                }
                to.offset += first as isize * to.strides[axis];
                to.strides[axis] *= step[axis] as isize;
            }
        }
        At::Dynamic { axes } => {
            for (&axis, start) in axes.iter().zip(extra) {
                let room = to.shape[axis] as i64 - src.shape()[axis] as i64;
                if room < 0 {
                    return Err(Error::invalid(format!("block {:?} does not fit destination {:?}", src.shape(), dst.shape())));
                }
                to.offset += start.first::<i64>().clamp(0, room) as isize * to.strides[axis];
            }
        }
    }
    to.shape = src.shape().to_vec();
    Ok(to.table())
}

fn put<T: Element>(dst: &Value, src: &Value, to: &[isize], op: impl Fn(T, T) -> T) -> Vec<T> {
    let mut out = dst.elements::<T>().into_owned();
    for (&at, &new) in to.iter().zip(src.elements::<T>().iter()) {
        out[at as usize] = op(out[at as usize], new);
    }
    out
}

fn put_f64(dst: &Value, src: &Value, to: &[isize], op: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let mut out = dst.to_f64s();
    for (&at, &new) in to.iter().zip(&src.to_f64s()) {
        out[at as usize] = op(out[at as usize], new);
    }
    out
}

fn bool_op(combine: WriteCombine) -> fn(bool, bool) -> bool {
    match combine {
        WriteCombine::Set => |_, new| new,
        WriteCombine::Add | WriteCombine::Max => |old, new| old | new,
        WriteCombine::Mul | WriteCombine::Min => |old, new| old & new,
    }
}

fn int_op(combine: WriteCombine, dtype: DType) -> fn(i64, i64) -> i64 {
    match combine {
        WriteCombine::Set => |_, new| new,
        WriteCombine::Add => i64::wrapping_add,
        WriteCombine::Mul => i64::wrapping_mul,
        WriteCombine::Max if dtype == DType::U64 => |old, new| (old as u64).max(new as u64) as i64,
        WriteCombine::Min if dtype == DType::U64 => |old, new| (old as u64).min(new as u64) as i64,
        WriteCombine::Max => std::cmp::max,
        WriteCombine::Min => std::cmp::min,
    }
}

fn float_op(combine: WriteCombine) -> fn(f64, f64) -> f64 {
    match combine {
        WriteCombine::Set => |_, new| new,
        WriteCombine::Add => |old, new| old + new,
        WriteCombine::Mul => |old, new| old * new,
        WriteCombine::Max => |old, new| scalar::eval_f64(scalar::ScalarOp::Max, &[old, new]),
        WriteCombine::Min => |old, new| scalar::eval_f64(scalar::ScalarOp::Min, &[old, new]),
    }
}
