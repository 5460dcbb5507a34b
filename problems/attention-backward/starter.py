# problem: attention-backward
"""The backward pass of attention, by hand."""
# … leading  L query length  S key length  D head size  Dv head size of values

import math

import torch
from torch import Tensor


def attention_backward(
    q: Tensor, k: Tensor, v: Tensor, grad_output: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return (grad_q, grad_k, grad_v).

    Args:
        q: (…, L, D).
        k: (…, S, D).
        v: (…, S, Dv).
        grad_output: (…, L, Dv), the gradient of softmax(q kᵀ / √D) v.
    """
    # TODO
    raise NotImplementedError
