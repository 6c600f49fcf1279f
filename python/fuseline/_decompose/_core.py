"""PyTorch's own decompositions that give eager's numbers bit for bit, or differ in the order of a sum only."""

from collections.abc import Callable
from typing import Any

import torch
from torch._decomp import get_decompositions
from torch._ops import OpOverload

_NAMES = """
_chunk_cat _euclidean_dist.default _fused_rms_norm _fused_rms_norm_backward _prelu_kernel _prelu_kernel_backward
_reshape_alias _safe_softmax _unsafe_index _unsafe_index_put _unsafe_masked_index _unsafe_view
_weight_norm_interface addcdiv affine_grid_generator alias_copy all aminmax arange.default arange.start
binary_cross_entropy_with_logits block_diag channel_shuffle col2im
count_nonzero deg2rad detach diag_embed diagonal_backward diagonal_copy empty_like expand_as expand_copy eye
fill floor_divide glu hardshrink hardsigmoid hardswish heaviside
im2col index_copy.default isin isneginf isposinf l1_loss
leaky_relu_backward linalg_vector_norm log_sigmoid_backward log_sigmoid_forward logaddexp logit_backward
logsumexp.default masked_fill max_unpool2d max_unpool3d mish mish_backward multi_margin_loss
multilabel_margin_loss_forward nan_to_num nansum narrow native_group_norm_backward
new_empty new_full new_ones new_zeros norm.Scalar norm.ScalarOpt_dim
norm.ScalarOpt_dim_dtype norm.ScalarOpt_dtype ones ones_like pixel_shuffle pixel_unshuffle rad2deg
reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d replication_pad3d
resize_as roll rot90 rsub select_backward sgn sinc slice_backward softplus softplus_backward
softshrink split.Tensor split_with_sizes_copy squeeze.default squeeze.dim squeeze_copy stack std.correction
std_mean.correction sum.default t t_copy threshold threshold_backward trace transpose.int transpose_copy
tril triu unbind unfold_backward unfold_copy unsafe_split.Tensor unsafe_split_with_sizes unsqueeze_copy zero
zeros zeros_like
""".split()


def _operator(name: str) -> Any:
    """The packet or overload `aten.name`, or None where this PyTorch does not have it."""
    found: Any = torch.ops.aten
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def table() -> dict[OpOverload, Callable[..., Any]]:
    """Overload to decomposition, of those names that this PyTorch has."""
    operators = [op for op in map(_operator, _NAMES) if op is not None]
    return dict(get_decompositions(operators))
