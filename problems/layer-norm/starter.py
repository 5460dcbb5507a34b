# problem: layer-norm
"""LayerNorm and RMSNorm over the last axis, forward and backward, by hand."""
# … leading  E features

import torch
from torch import Tensor


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Return (x − mean) / √(variance + ε) · weight + bias, for x (…, E), in the dtype of x."""
    # TODO
    raise NotImplementedError


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """Return x / √(mean of x² + ε) · weight, for x (…, E), in the dtype of x."""
    # TODO
    raise NotImplementedError


def layer_norm_backward(
    grad_output: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5
) -> tuple[Tensor, Tensor, Tensor]:
    """Return (grad_x, grad_weight, grad_bias), shaped (…, E), (E,) and (E,)."""
    # TODO
    raise NotImplementedError


def rms_norm_backward(
    grad_output: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-6
) -> tuple[Tensor, Tensor]:
    """Return (grad_x, grad_weight), shaped (…, E) and (E,)."""
    # TODO
    raise NotImplementedError
