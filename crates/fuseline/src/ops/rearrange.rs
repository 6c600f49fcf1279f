//! Parts and arrangements of tensors, made of views.

use base::Error;
use scalar::{Combiner, DType, Shape, Sym};

use crate::op::Op;
use crate::shape::axis;
use crate::tensor::{Recorded, Tensor, user_op};
use crate::trace;

impl Tensor {
    /// Moves one dim to another place; the others keep their order.
    #[track_caller]
    pub fn movedim(&self, from: i64, to: i64) -> Tensor {
        user_op("movedim", || {
            let rank = self.ok()?.rank();
            let (from, to) = (axis(from, rank)?, axis(to, rank)?);
            let mut order: Vec<i64> = (0..rank as i64).filter(|&d| d != from as i64).collect();
            order.insert(to, from as i64);
            Ok(self.permute(order))
        })
    }
    /// As [`transpose`](Tensor::transpose).
    #[track_caller]
    pub fn swapaxes(&self, a: i64, b: i64) -> Tensor {
        user_op("swapaxes", || Ok(self.ok()?.transpose(a, b)))
    }
    /// The entries along a dim, which disappears. The extent must be a number.
    #[track_caller]
    pub fn unbind(&self, dim: i64) -> Vec<Tensor> {
        user_op("unbind", || {
            let at = axis(dim, self.ok()?.rank())?;
            Ok((0..trace::concrete(&self.dims()[at])).map(|i| self.select(dim, i)).collect())
        })
    }
    /// Expands to another tensor's shape.
    #[track_caller]
    pub fn expand_as(&self, other: &Tensor) -> Tensor {
        user_op("expand_as", || Ok(self.expand(other.ok()?.dims())))
    }
    /// Same elements in another tensor's shape.
    #[track_caller]
    pub fn view_as(&self, other: &Tensor) -> Tensor {
        user_op("view_as", || Ok(self.reshape(other.ok()?.dims())))
    }
    /// The diagonal of the last two dims as the last dim; `offset` above 0 is right of the main one.
    #[track_caller]
    pub fn diagonal(&self, offset: i64) -> Tensor {
        user_op("diagonal", || {
            let rank = self.ok()?.rank();
            if rank < 2 {
                return Err(Error::invalid(format!("needs a matrix or a batch of them, got {}", self.ty())).into());
            }
            let (down, right) = ((-offset).max(0), offset.max(0));
            let rows = &self.dims()[rank - 2] - down;
            let cols = &self.dims()[rank - 1] - right;
            let len = Sym::max(&Sym::min(&rows, &cols), &Sym::from(0i64));
            let square = self.narrow(-2, down, &len).narrow(-1, right, &len);
            let on = Tensor::iota(&len).unsqueeze(1).eq(Tensor::iota(&len));
            let zero = square.zeros_like();
            pick(&square.where_(&on, zero))
        })
    }
    /// A matrix with a vector on its main diagonal, or the main diagonal of a matrix.
    #[track_caller]
    pub fn diag(&self) -> Tensor {
        user_op("diag", || match self.ok()?.rank() {
            1 => {
                let n = self.size(0);
                let on = Tensor::iota(&n).unsqueeze(1).eq(Tensor::iota(&n));
                let row = self.unsqueeze(0).expand([n.clone(), n]);
                Ok(row.where_(&on, row.zeros_like()))
            }
            2 => Ok(self.diagonal(0)),
            _ => Err(Error::invalid(format!("{} is neither a vector nor a matrix; use diagonal", self.ty())).into()),
        })
    }
    /// Sum of the main diagonal of a matrix; integers give i64.
    #[track_caller]
    pub fn trace(&self) -> Tensor {
        user_op("trace", || match self.ok()?.rank() {
            2 => Ok(self.diagonal(0).sum(..)),
            _ => Err(Error::invalid(format!("{} is not a matrix", self.ty())).into()),
        })
    }
    /// Differences of neighbours along a dim, which gets shorter by one.
    #[track_caller]
    pub fn diff(&self, dim: i64) -> Tensor {
        user_op("diff", || {
            let n = self.ok()?.dims()[axis(dim, self.rank())?].clone();
            if n.is_zero() {
                return Ok(self.clone());
            }
            Ok(self.narrow(dim, 1, &n - 1) - self.narrow(dim, 0, &n - 1))
        })
    }
    /// Quarter turns of the plane of two dims, from the first toward the second.
    #[track_caller]
    pub fn rot90(&self, times: i64, a: i64, b: i64) -> Tensor {
        user_op("rot90", || {
            let x = self.ok()?;
            Ok(match times.rem_euclid(4) {
                0 => x.clone(),
                1 => x.flip(b).transpose(a, b),
                2 => x.flip([a, b]),
                _ => x.transpose(a, b).flip(b),
            })
        })
    }
    /// The entries along `dim` that `index`, of the same rank, names at each position; other dims broadcast.
    #[track_caller]
    pub fn take_along_dim(&self, index: &Tensor, dim: i64) -> Tensor {
        user_op("take_along_dim", || {
            let at = axis(dim, self.ok()?.rank())?;
            if index.ok()?.rank() != self.rank() {
                return Err(Error::invalid(format!("the index {} must have the rank of {}", index.ty(), self.ty())).into());
            }
            let wide = |a: &Sym, b: &Sym| if a.is_one() { b.clone() } else { a.clone() };
            let (mut own, mut places) = (self.dims().clone(), index.dims().clone());
            for i in (0..own.len()).filter(|&i| i != at) {
                let n = wide(&own[i], &places[i]);
                (own[i], places[i]) = (n.clone(), n);
            }
            Ok(self.expand(own).gather(dim, &index.expand(places)))
        })
    }
    /// One number everywhere, with another tensor's shape and dtype.
    #[track_caller]
    pub fn full_like(&self, value: impl Into<crate::Number>) -> Tensor {
        let value = value.into();
        user_op("full_like", || Ok(Tensor::constant(value, self.ok()?.dtype()).expand(self.dims())))
    }
    /// Uniform values in [0, 1) with another tensor's shape and float dtype, from the default generator.
    #[track_caller]
    pub fn rand_like(&self) -> Tensor {
        user_op("rand_like", || Ok(crate::Generator::default().rand(self.ok()?.dims(), self.dtype())))
    }
    /// Standard normal values with another tensor's shape and float dtype, from the default generator.
    #[track_caller]
    pub fn randn_like(&self) -> Tensor {
        user_op("randn_like", || Ok(crate::Generator::default().randn(self.ok()?.dims(), self.dtype())))
    }
    /// As i64.
    #[track_caller]
    pub fn long(&self) -> Tensor {
        user_op("long", || self.ok()?.cast_to(DType::I64))
    }
    /// As f32.
    #[track_caller]
    pub fn float(&self) -> Tensor {
        user_op("float", || self.ok()?.cast_to(DType::F32))
    }
    /// As f16.
    #[track_caller]
    pub fn half(&self) -> Tensor {
        user_op("half", || self.ok()?.cast_to(DType::F16))
    }
    /// As bf16.
    #[track_caller]
    pub fn bfloat16(&self) -> Tensor {
        user_op("bfloat16", || self.ok()?.cast_to(DType::BF16))
    }
    /// As bool: whether elements are not zero.
    #[track_caller]
    pub fn bool(&self) -> Tensor {
        user_op("bool", || self.ok()?.cast_to(DType::Bool))
    }
}

/// What is left of a matrix that is zero off its diagonal, as a vector.
fn pick(square: &Tensor) -> Recorded<Tensor> {
    let last = square.rank() - 1;
    let dtype = square.dtype();
    let combiner = if dtype == DType::Bool { Combiner::Any } else { Combiner::Sum };
    Tensor::apply(Op::Reduce(combiner, [last].into_iter().collect()), &[square])?.cast_to(dtype)
}

/// Coordinates of the points of a grid whose sides are vectors: for sides of n and m elements, two tensors `[n, m]`
/// (`indexing="ij"`).
#[track_caller]
pub fn meshgrid<T: AsRef<Tensor>>(sides: &[T]) -> Vec<Tensor> {
    user_op("meshgrid", || {
        let mut shape = Shape::new();
        for side in sides {
            let side = side.as_ref().ok()?;
            if side.rank() != 1 {
                return Err(Error::invalid(format!("needs vectors, got {}", side.ty())).into());
            }
            shape.push(side.size(0));
        }
        let grid = |(i, side): (usize, &T)| {
            let thin = (0..shape.len()).map(|k| if k == i { shape[k].clone() } else { Sym::from(1i64) });
            side.as_ref().reshape(thin.collect::<Shape>()).expand(&shape)
        };
        Ok(sides.iter().enumerate().map(grid).collect())
    })
}
