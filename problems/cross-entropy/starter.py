# problem: cross-entropy
"""The mean cross-entropy of logits, and its gradient by hand."""
# B batch  L length  V classes, the size of the vocabulary

import torch
from torch import Tensor


def cross_entropy(
    logits: Tensor, targets: Tensor, ignore_index: int = -100, label_smoothing: float = 0.0
) -> Tensor:
    """Return the mean loss of the positions whose target is not ignore_index; 0 if there are none.

    Args:
        logits: (B, L, V).
        targets: (B, L), int64.
        ignore_index: Positions with this target count for nothing.
        label_smoothing: ε of q_v = (1 − ε) [v = y] + ε / V.
    """
    # TODO
    raise NotImplementedError


def cross_entropy_backward(
    logits: Tensor, targets: Tensor, ignore_index: int = -100, label_smoothing: float = 0.0
) -> Tensor:
    """Return the gradient of `cross_entropy` for the logits, (B, L, V)."""
    # TODO
    raise NotImplementedError
