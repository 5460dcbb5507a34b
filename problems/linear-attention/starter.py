# problem: linear-attention
"""Linear attention: weights φ(q) · φ(k) instead of exp(q · k), so that sums come first."""
# B batch  H heads  L length  D head size

import torch
import torch.nn.functional as F
from torch import Tensor


def linear_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> Tensor:
    """Return attention with the weights φ(qᵢ) · φ(kⱼ), each row divided by its sum.

    φ(x) = elu(x) + 1. The number of operations grows with L, not with L².

    Args:
        q: Queries, (B, H, L, D).
        k: Keys, (B, H, L, D).
        v: Values, (B, H, L, D).
        causal: Whether position i attends to 0 … i only.

    Returns:
        Output (B, H, L, D).
    """
    # TODO
    raise NotImplementedError
