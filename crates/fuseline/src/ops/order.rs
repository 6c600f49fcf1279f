//! Sorting.

use std::collections::BTreeMap;

use base::Error;

use crate::op::Op;
use crate::shape::axis;
use crate::tensor::{Recorded, Tensor, user_op};

fn call(x: &Tensor, name: &'static str, attrs: &[(&str, i64)]) -> Recorded<(Tensor, Tensor)> {
    let attrs: BTreeMap<String, i64> = attrs.iter().map(|&(k, v)| (k.to_owned(), v)).collect();
    let mut parts = Tensor::apply_many(Op::Call(name, attrs), &[x])?;
    let indices = parts.swap_remove(1);
    Ok((parts.swap_remove(0), indices))
}

impl Tensor {
    /// Sorted values along a dim and their positions (i64); equal elements keep their order, NaN is greatest.
    #[track_caller]
    pub fn sort(&self, dim: i64, descending: bool) -> (Tensor, Tensor) {
        user_op("sort", || {
            let at = axis(dim, self.ok()?.rank())?;
            call(self, "sort", &[("axis", at as i64), ("descending", i64::from(descending))])
        })
    }
    /// Positions that would sort along a dim.
    #[track_caller]
    pub fn argsort(&self, dim: i64, descending: bool) -> Tensor {
        user_op("argsort", || {
            let at = axis(dim, self.ok()?.rank())?;
            Ok(call(self, "sort", &[("axis", at as i64), ("descending", i64::from(descending))])?.1)
        })
    }
    /// The `k` greatest (or least) elements along a dim, in order, and their positions (i64).
    #[track_caller]
    pub fn topk(&self, k: usize, dim: i64, largest: bool) -> (Tensor, Tensor) {
        user_op("topk", || {
            let at = axis(dim, self.ok()?.rank())?;
            if self.dims()[at].as_int().is_some_and(|n| k as i64 > n) {
                return Err(Error::invalid(format!("k = {k} is more than dim {dim} of {} has", self.ty())).into());
            }
            call(self, "topk", &[("axis", at as i64), ("k", k as i64), ("largest", i64::from(largest))])
        })
    }
}
