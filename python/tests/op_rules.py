"""Which ops of torch's own op list must equal eager bit for bit, and which as accurately as eager does.

The rule is bit for bit: arithmetic, comparisons, casts, integers, data movement, selection, and random numbers (drawn
by eager's kernels). Listed here is what may differ: functions that approximate a transcendental one, and sums of
floats, whose order is free.
"""

from __future__ import annotations

from typing import Any

from comparing import Values, accurately, accurately_each, exactly, metadata_only

UNDEFINED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "resize_"}

# Eager's square root may be a vector library's, which does not always round correctly.
TRANSCENDENTAL = set(
    """
    __rpow__ acos acosh angle asin asinh atan atan2 atanh cauchy cos cosh digamma erf erfc erfinv exp exp2 expm1
    exponential float_power geometric hypot i0 igamma igammac jiterator_unary lgamma log log10 log1p log2 log_normal
    logaddexp logaddexp2 logit logspace mvlgamma polar polygamma pow rsqrt sigmoid sin sinc sinh sqrt tan tanh xlogy
    nn.functional.celu nn.functional.elu nn.functional.gelu nn.functional.glu nn.functional.logsigmoid
    nn.functional.mish nn.functional.selu nn.functional.silu nn.functional.softplus nn.functional.tanhshrink
    """.split()
)

SUMS = set(
    """
    __rmatmul__ _batch_norm_with_update _native_batch_norm_legit _segment_reduce _softmax_backward_data
    _upsample_bilinear2d_aa addbmm addmm addmv baddbmm bmm cdist corrcoef cov cross cumprod cumsum
    cumulative_trapezoid dist dot einsum grid_sampler_2d grid_sampler_3d hash_tensor histogram histogramdd index_reduce
    inner istft log_softmax logcumsumexp logsumexp matmul matrix_exp mean mm mv nanmean nanquantile nansum
    native_batch_norm native_group_norm native_layer_norm norm pca_lowrank pinverse prod quantile renorm scatter_reduce
    softmax std std_mean stft sum sum_to_size svd svd_lowrank tensordot trace trapezoid trapz var var_mean vdot
    logdet sparse.mm sparse.sampled_addmm ormqr cholesky_inverse cholesky_solve lu lu_solve geqrf triangular_solve
    """.split()
)

SUM_PREFIXES = ("fft.", "linalg.", "masked.", "special.", "signal.", "torch.ops.aten.", "torch._scaled_mm")

EXACT_MASKED = {"masked.amax", "masked.amin", "masked.argmax", "masked.argmin", "masked.median"}

EXACT_FUNCTIONAL = set(
    """
    alpha_dropout channel_shuffle dropout dropout2d dropout3d embedding feature_alpha_dropout hardshrink hardsigmoid
    hardswish hardtanh leaky_relu one_hot pad pixel_shuffle pixel_unshuffle prelu relu relu6 rrelu softshrink softsign
    threshold unfold upsample_nearest
    adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d
    max_pool1d max_pool2d max_pool3d max_unpool1d max_unpool2d max_unpool3d
    """.split()
)

EXACT_VARIANTS = {("nn.functional.interpolate", "nearest"), ("nn.functional.interpolate", "nearest-exact")}


def rule(op: Any) -> Values:
    """How forward results of an OpInfo are compared."""
    if op.name in UNDEFINED:
        return metadata_only
    if op.name in TRANSCENDENTAL or op.name.startswith(("polygamma", "mvlgamma")):
        return accurately_each
    if op.name.startswith("nn.functional."):
        exact = op.name.removeprefix("nn.functional.") in EXACT_FUNCTIONAL
        return exactly if exact or (op.name, op.variant_test_name) in EXACT_VARIANTS else accurately
    if op.name in SUMS or (op.name.startswith(SUM_PREFIXES) and op.name not in EXACT_MASKED):
        return accurately
    return exactly
