//! Views: new layouts over the same data; only padding and some reshapes copy.

use base::Result;

use super::layout::Layout;
use super::value::{Element, Value, with_kind};
use super::{Env, dense_len};
use crate::View;

/// Evaluates a view whose result has extents `out`.
pub(crate) fn view(view: &View, x: &Value, out: &[usize], env: &Env) -> Result<Value> {
    let mut to = x.layout.clone();
    match view {
        View::Reshape(_) => return Ok(reshape(x, out)),
        View::Permute(perm) => to = x.layout.select(perm.iter().copied()),
        View::Expand(_) => {
            for (axis, &n) in out.iter().enumerate() {
                if to.shape[axis] != n {
                    to.shape[axis] = n;
                    to.strides[axis] = 0;
                }
            }
        }
        View::Slice { start, step, .. } => {
            for (axis, &n) in out.iter().enumerate() {
                let first = env.int(&start[axis])?;
                let last = first + (n.max(1) as i64 - 1) * step[axis];
                if n > 0 && (first < 0 || last >= to.shape[axis] as i64) {
                    return Err(base::Error::invalid(format!(
                        "slice reads {first}..={last} of axis {axis}, whose extent is {}: shrink the slice",
                        to.shape[axis]
                    )));
                }
                to.offset += if n > 0 { first as isize * to.strides[axis] } else { 0 };
                to.shape[axis] = n;
                to.strides[axis] *= step[axis] as isize;
            }
        }
        View::Flip(axes) => {
            for &axis in axes {
                to.offset += to.strides[axis] * (to.shape[axis].max(1) as isize - 1);
                to.strides[axis] = -to.strides[axis];
            }
        }
        View::Pad { lo, interior, value, .. } => {
            let lo = env.sizes(lo)?;
            dense_len(out)?;
            return Ok(with_kind!(x.kind(), T => pad(x, out, &lo, interior, T::from_scalar(*value))));
        }
        View::Window { axis, stride, dilation, .. } => {
            to.shape[*axis] = out[*axis];
            to.shape.push(out[out.len() - 1]);
            to.strides.push(to.strides[*axis] * *dilation as isize);
            to.strides[*axis] *= *stride as isize;
        }
    }
    Ok(x.with_layout(to))
}

fn reshape(x: &Value, out: &[usize]) -> Value {
    let compact = x.compact();
    let offset = compact.layout.offset;
    compact.with_layout(Layout { offset, ..Layout::dense(out.to_vec()) })
}

fn pad<T: Element>(x: &Value, out: &[usize], lo: &[usize], interior: &[i64], fill: T) -> Value {
    let mut result = Layout::dense(out.to_vec());
    let mut data = vec![fill; result.len()];
    let whole = result.clone();
    for (axis, &n) in x.shape().iter().enumerate() {
        result.offset += lo[axis] as isize * result.strides[axis];
        result.strides[axis] *= 1 + interior[axis] as isize;
        result.shape[axis] = n;
    }
    scatter(&mut data, &result, &x.elements::<T>(), |_, new| new);
    Value { dtype: x.dtype, data: std::sync::Arc::new(T::wrap(data)), layout: whole }
}

/// Combines row-major `src` into the positions of `to`.
pub(crate) fn scatter<T: Element>(dst: &mut [T], to: &Layout, src: &[T], combine: impl Fn(T, T) -> T) {
    let mut next = src.iter();
    to.rows(|row| {
        for (i, &new) in (0..row.len as isize).zip(next.by_ref().take(row.len)) {
            let at = (row.start + i * row.stride) as usize;
            dst[at] = combine(dst[at], new);
        }
    });
}
