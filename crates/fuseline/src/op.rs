//! What a recorded node does.

use std::collections::BTreeMap;

use graph::compose::{Conv, Pool};
use graph::{ContractSpec, WriteCombine};
use scalar::{Combiner, DType, Scalar, ScalarOp, Shape, Sym};
use smallvec::SmallVec;

use crate::nn::Reduction;

/// A recorded op. Operands may broadcast where noted; dtypes have been promoted when it is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// Pointwise; operands broadcast.
    Map(ScalarOp),
    /// Conversion.
    Cast(DType),
    /// A symbolic integer, 0-d i64.
    Size(Sym),
    /// 0, 1, 2, … as i64.
    Iota(Sym),
    /// Reduction over ascending axes; all results of the combiner.
    Reduce(Combiner, SmallVec<[usize; 4]>),
    /// Inclusive scan; the first result of the combiner.
    Scan(Combiner, usize),
    /// Other shape, same elements.
    Reshape(Shape),
    /// Reordered axes.
    Permute(SmallVec<[usize; 6]>),
    /// Axes of extent 1 repeated.
    Expand(Shape),
    /// Strided part.
    Slice { start: Shape, len: Shape, step: SmallVec<[i64; 4]> },
    /// Reversed axes.
    Flip(SmallVec<[usize; 4]>),
    /// Surrounded by a value.
    Pad { lo: Shape, hi: Shape, value: Scalar },
    /// Joined along an axis.
    Concat(usize),
    /// Two-operand contraction.
    Contract(ContractSpec),
    /// One axis read at indices of the output's shape; negative ones count from the end.
    Gather { axis: usize },
    /// One axis written at indices, negative ones from the end: destination, source, indices.
    Scatter { axis: usize, combine: WriteCombine },
    /// A library definition by name.
    Call(&'static str, BTreeMap<String, i64>),
    /// A composite of the graph crate.
    Compose(Composite),
}

impl Op {
    /// The op with every symbolic integer replaced.
    pub(crate) fn map_syms(&self, f: impl Fn(&Sym) -> Sym) -> Op {
        let shape = |s: &Shape| -> Shape { s.iter().map(&f).collect() };
        let conv = |c: &Conv| Conv { pads: c.pads.iter().map(|(lo, hi)| (f(lo), f(hi))).collect(), ..c.clone() };
        match self {
            Op::Size(n) => Op::Size(f(n)),
            Op::Iota(n) => Op::Iota(f(n)),
            Op::Reshape(to) => Op::Reshape(shape(to)),
            Op::Expand(to) => Op::Expand(shape(to)),
            Op::Slice { start, len, step } => Op::Slice { start: shape(start), len: shape(len), step: step.clone() },
            Op::Pad { lo, hi, value } => Op::Pad { lo: shape(lo), hi: shape(hi), value: *value },
            Op::Compose(Composite::Conv { geometry, bias }) => {
                Op::Compose(Composite::Conv { geometry: conv(geometry), bias: *bias })
            }
            Op::Compose(Composite::ConvTranspose { geometry, output_padding, bias }) => Op::Compose(Composite::ConvTranspose {
                geometry: conv(geometry),
                output_padding: output_padding.clone(),
                bias: *bias,
            }),
            other => other.clone(),
        }
    }
    /// Whether it mentions a symbolic integer that is not a number.
    pub(crate) fn is_symbolic(&self) -> bool {
        let found = std::cell::Cell::new(false);
        self.map_syms(|n| {
            found.set(found.get() || n.as_int().is_none());
            n.clone()
        });
        found.get()
    }
}

/// A composite: one user op that the graph crate builds from structural ops.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Composite {
    Relu,
    Relu6,
    Selu,
    Gelu,
    GeluTanh,
    Silu,
    HardSwish,
    HardSigmoid,
    Mish,
    Softsign,
    Softplus,
    LeakyRelu(Float),
    Elu(Float),
    /// x, slope.
    Prelu,
    Softmax(usize),
    LogSoftmax(usize),
    LogSumExp(Axes),
    Mean(Axes),
    Var(Axes, i64),
    Matmul,
    /// x, weight, bias?.
    Linear {
        bias: bool,
    },
    /// x, weight?, bias? over the axes from `first` on.
    LayerNorm {
        first: usize,
        eps: Float,
        affine: Affine,
    },
    /// x, weight? over the axes from `first` on.
    RmsNorm {
        first: usize,
        eps: Float,
        weight: bool,
    },
    /// x, weight?, bias?; axis 1 in groups.
    GroupNorm {
        groups: i64,
        eps: Float,
        affine: Affine,
    },
    /// x, mean, variance, weight?, bias?; axis 1.
    BatchNorm {
        eps: Float,
        affine: Affine,
    },
    /// x, weight?, bias?; axis 1, with the statistics of the batch: (y, mean, biased variance).
    BatchNormTrain {
        eps: Float,
        affine: Affine,
    },
    /// x, weight, bias?.
    Conv {
        geometry: Conv,
        bias: bool,
    },
    /// x, weight, bias?.
    ConvTranspose {
        geometry: Conv,
        output_padding: Vec<i64>,
        bias: bool,
    },
    MaxPool(Pool),
    /// Mean of the window; the flag counts padding as elements.
    AvgPool(Pool, bool),
    AdaptiveAvgPool(Vec<i64>),
    /// q, k, v, mask?.
    Attention {
        causal: bool,
        scale: Option<Float>,
        mask: bool,
    },
    /// indices, table.
    Embedding,
    /// x, key.
    Dropout(Float),
    /// x `[…, L, D]`, positions `[L]`: rotary embedding of the two halves of the last axis.
    Rope {
        dim: i64,
        base: Float,
    },
    /// x `[T, N, I]`, h₀, c₀, w_ih, w_hh, b_ih?, b_hh?: (outputs, h, c).
    Lstm {
        bias: bool,
        reverse: bool,
    },
    /// x `[T, N, I]`, h₀, w_ih, w_hh, b_ih?, b_hh?: (outputs, h).
    Gru {
        bias: bool,
        reverse: bool,
    },
    /// x, target.
    Loss(Loss, Reduction),
}

/// What a loss compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Loss {
    Mse,
    L1,
    BceWithLogits,
    /// With the class to ignore.
    Nll(Option<i64>),
    /// With the class to ignore.
    CrossEntropy(Option<i64>),
}

/// Axes of a reduction, ascending, and whether they stay with extent 1.
pub(crate) type Axes = (SmallVec<[usize; 4]>, bool);

/// A float attribute, compared by its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Float(u64);

impl From<f64> for Float {
    fn from(v: f64) -> Float {
        Float(v.to_bits())
    }
}
impl Float {
    pub(crate) fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// Which of the optional scale and shift operands are present.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Affine {
    pub(crate) weight: bool,
    pub(crate) bias: bool,
}
