//! Reads and writes at computed positions, and masks by position.

use base::Error;
use graph::WriteCombine;
use scalar::{DType, ScalarOp, Shape, Sym};

use crate::op::Op;
use crate::promote::{Number, Operand};
use crate::shape::axis;
use crate::tensor::{Recorded, Tensor, user_op};

/// Indices as i64.
pub(crate) fn indices(t: &Tensor) -> Recorded<Tensor> {
    if !t.ok()?.dtype().is_int() {
        return Err(Error::invalid(format!("indices must be integers, got {}", t.ty())).into());
    }
    t.cast_to(DType::I64)
}

fn same_rank(x: &Tensor, index: &Tensor) -> Recorded<()> {
    if x.rank() == index.rank() {
        return Ok(());
    }
    Err(Error::invalid(format!("the index {} must have the rank of {}", index.ty(), x.ty())).into())
}

/// Cuts the dims other than `at` to the extents of the index, as PyTorch's gather and scatter allow.
fn cut_to(x: &Tensor, shape: &Shape, at: Option<usize>) -> Recorded<Tensor> {
    let len: Shape =
        x.dims().iter().zip(shape).enumerate().map(|(i, (n, m))| if Some(i) == at { n.clone() } else { m.clone() }).collect();
    if len == *x.dims() {
        return Ok(x.clone());
    }
    let start = len.iter().map(|_| Sym::from(0i64)).collect();
    let step = len.iter().map(|_| 1).collect();
    Tensor::apply(Op::Slice { start, len, step }, &[x])
}

/// A vector laid along one axis of a shape.
fn along(index: &Tensor, at: usize, shape: &Shape) -> Recorded<Tensor> {
    let thin = shape.iter().enumerate().map(|(i, n)| if i == at { n.clone() } else { Sym::from(1i64) }).collect();
    let index = Tensor::apply(Op::Reshape(thin), &[index])?;
    Tensor::apply(Op::Expand(shape.clone()), &[&index])
}

fn scatter(x: &Tensor, dim: i64, index: &Tensor, src: &Operand, combine: WriteCombine) -> Recorded<Tensor> {
    x.ok()?;
    src.ok()?;
    let index = indices(index)?;
    same_rank(x, &index)?;
    let at = axis(dim, x.rank())?;
    let src = match src {
        Operand::Tensor(t) if t.dtype() != x.dtype() => {
            return Err(Error::invalid(format!("the source {} must have the dtype of {}", t.ty(), x.ty())).into());
        }
        Operand::Tensor(t) => cut_to(t, index.dims(), None)?,
        Operand::Number(n) => Tensor::constant(*n, x.dtype()).expand(index.dims()),
    };
    Tensor::apply(Op::Scatter { axis: at, combine }, &[x, &src, &index])
}

fn triangle(x: &Tensor, diagonal: i64, lower: bool) -> Recorded<Tensor> {
    if x.ok()?.rank() < 2 {
        return Err(Error::invalid(format!("needs a matrix or a batch of them, got {}", x.ty())).into());
    }
    let (rows, cols) = (x.size(-2), x.size(-1));
    let row = Tensor::apply(Op::Iota(rows), &[])?.unsqueeze(1).add(diagonal);
    let col = Tensor::apply(Op::Iota(cols), &[])?;
    let keep = if lower { col.le(&row) } else { col.ge(&row) };
    let zero = Tensor::constant(Number::Int(0), x.dtype());
    Tensor::apply(Op::Map(ScalarOp::Select), &[&keep, x, &zero])
}

impl Tensor {
    /// `out[i][j] = self[index[i][j]][j]` for `dim = 0`, and likewise for the others.
    #[track_caller]
    pub fn gather(&self, dim: i64, index: &Tensor) -> Tensor {
        user_op("gather", || {
            let index = indices(index)?;
            same_rank(self.ok()?, &index)?;
            let at = axis(dim, self.rank())?;
            let x = cut_to(self, index.dims(), Some(at))?;
            Tensor::apply(Op::Gather { axis: at }, &[&x, &index])
        })
    }
    /// The entries of a dim that a vector of positions lists.
    #[track_caller]
    pub fn index_select(&self, dim: i64, index: &Tensor) -> Tensor {
        user_op("index_select", || {
            let index = indices(index)?;
            let at = axis(dim, self.ok()?.rank())?;
            if index.rank() != 1 {
                return Err(Error::invalid(format!("the index must be a vector, got {}", index.ty())).into());
            }
            let mut shape = self.dims().clone();
            shape[at] = index.dims()[0].clone();
            Tensor::apply(Op::Gather { axis: at }, &[self, &along(&index, at, &shape)?])
        })
    }
    /// A copy where `out[index[i][j]][j] = src[i][j]` for `dim = 0`, and likewise for the others.
    #[track_caller]
    pub fn scatter(&self, dim: i64, index: &Tensor, src: impl Into<Operand>) -> Tensor {
        let src = src.into();
        user_op("scatter", || scatter(self, dim, index, &src, WriteCombine::Set))
    }
    /// As [`scatter`](Tensor::scatter), adding to what is there.
    #[track_caller]
    pub fn scatter_add(&self, dim: i64, index: &Tensor, src: &Tensor) -> Tensor {
        user_op("scatter_add", || scatter(self, dim, index, &src.into(), WriteCombine::Add))
    }
    /// As [`scatter`](Tensor::scatter), combined with what is there: `how` is `"sum"`, `"prod"`, `"amax"` or `"amin"`.
    #[track_caller]
    pub fn scatter_reduce(&self, dim: i64, index: &Tensor, src: &Tensor, how: &str) -> Tensor {
        user_op("scatter_reduce", || {
            let combine = match how {
                "sum" => WriteCombine::Add,
                "prod" => WriteCombine::Mul,
                "amax" => WriteCombine::Max,
                "amin" => WriteCombine::Min,
                _ => return Err(Error::invalid(format!("how is {how:?}; it must be sum, prod, amax or amin")).into()),
            };
            scatter(self, dim, index, &src.into(), combine)
        })
    }
    /// A copy with `src` added to the entries of a dim that a vector of positions lists.
    #[track_caller]
    pub fn index_add(&self, dim: i64, index: &Tensor, src: &Tensor) -> Tensor {
        user_op("index_add", || {
            let index = indices(index)?;
            let at = axis(dim, self.ok()?.rank())?;
            let index = along(&index, at, src.ok()?.dims())?;
            scatter(self, dim, &index, &src.into(), WriteCombine::Add)
        })
    }
    /// 1 at the class that each element names, 0 elsewhere, along a new last dim (i64).
    #[track_caller]
    pub fn one_hot(&self, classes: usize) -> Tensor {
        user_op("one_hot", || {
            let index = indices(self)?;
            let class = Tensor::apply(Op::Iota(Sym::from(classes as i64)), &[])?;
            index.unsqueeze(-1).eq(&class).cast_to(DType::I64)
        })
    }
    /// The lower triangle of matrices, up to a diagonal; 0 elsewhere.
    #[track_caller]
    pub fn tril(&self, diagonal: i64) -> Tensor {
        user_op("tril", || triangle(self, diagonal, true))
    }
    /// The upper triangle of matrices, from a diagonal; 0 elsewhere.
    #[track_caller]
    pub fn triu(&self, diagonal: i64) -> Tensor {
        user_op("triu", || triangle(self, diagonal, false))
    }
}
