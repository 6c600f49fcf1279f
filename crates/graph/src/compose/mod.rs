//! Composites: the ops of PyTorch and ONNX as functions that build structural ops.
//!
//! Each takes the [`crate::Builder`] first and follows PyTorch's semantics: broadcasting, type promotion, and computing in
//! f32 with one rounding at the end for f16 and bf16. None is special below the graph. They open no origin scope; a caller
//! that wants the nodes of one user op to count as one wraps the call in [`crate::Builder::with_origin`].
//!
//! Axes are non-negative; [`axis`] converts counted-from-the-end ones.

mod activation;
mod attention;
mod broadcast;
mod conv;
mod cover;
mod index;
mod linear;
mod loss;
mod norm;
mod pool;
mod random;
mod recurrent;
mod reduce;
mod resize;

#[cfg(test)]
mod tests;

pub use activation::{
    celu, elu, gelu, gelu_tanh, hardsigmoid, hardswish, leaky_relu, mish, prelu, quick_gelu, relu, relu6, selu, shrink, sigmoid,
    silu, softplus, softsign,
};
pub use attention::{Attention, Pairing, attention, rope, rope_tables};
pub use broadcast::{
    binary, broadcast_all, broadcast_shapes, broadcast_to, cast, clamp, full, promote, promote_groups, reshape_if, scalar_like,
    scalar_with, true_div, where_, with_scalar,
};
pub use conv::{Conv, conv, conv_transpose};
pub use cover::Cover;
pub use index::{
    PadMode, arange, axis, chunk, embedding, flatten, gather, gather_nd, index_select, lower_mask, masked_fill, one_hot, pad,
    repeat_interleave, scatter, scatter_nd, select, slice_axis, slice_range, split, squeeze, stack, take, tile, transpose, tril,
    triu, unsqueeze, wrap_index,
};
pub use linear::{linear, matmul, matmul_acc, matmul_nt, outer};
pub use loss::{Reduction, bce_with_logits, cross_entropy, l1, mse, nll};
pub use norm::{Affine, BatchNorm, batch_norm, batch_norm_train, group_norm, instance_norm, layer_norm, normalize, rms_norm};
pub use pool::{Pool, adaptive_avg_pool, avg_pool, global_avg_pool, global_max_pool, local_response_norm, lp_pool, max_pool};
pub use random::{Key, dropout, rand_uniform, randn};
pub use recurrent::{Cell, Gates, Layer, Recurrent, Weights, gru, lstm, rnn};
pub use reduce::{
    Running, all, all_axes, any, argmax, argmin, cumprod, cumsum, log_softmax, logsumexp, max, mean, min, prod, reduce, softmax,
    sum, var, vector_norm,
};
pub use resize::{Coordinates, Filter, Nearest, Target, resize};
