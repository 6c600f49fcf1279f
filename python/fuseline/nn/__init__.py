"""Modules whose kernels Fuseline generates, with or without ``torch.compile``.

They take the constructor arguments of their namesakes in ``torch.nn`` and have the same parameter names, so each loads
the other's ``state_dict``. The operators behind them are ``torch.ops.fuseline.*_v1``: they have fake implementations
and derivatives, so every backend of ``torch.compile`` can call them, and ours takes them apart and fuses them with what
is around them. One compilation serves all sizes.

>>> norm = fuseline.nn.RMSNorm(512)
>>> y, hidden = norm(torch.randn(2, 7, 512), residual=torch.randn(2, 7, 512))
"""

from ._activation import GEGLUMLP, SwiGLUMLP
from ._linear_loss import FusedLinearCrossEntropy
from ._loss import CrossEntropyLoss
from ._norm import LayerNorm, RMSNorm

__all__ = ["GEGLUMLP", "VERSION", "CrossEntropyLoss", "FusedLinearCrossEntropy", "LayerNorm", "RMSNorm", "SwiGLUMLP"]

VERSION = 1
"""Version of the operators; it ends their names, and a change of what one computes gives it a new name."""
