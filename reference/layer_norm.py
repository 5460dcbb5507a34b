"""LayerNorm and RMSNorm over the last axis, and their gradients, derived by hand.

Neither paper writes ε; it stands where PyTorch has it, inside the root.
"""
# … leading  E features

import torch
from torch import Tensor


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Return (x − mean) / √(variance + ε) ⊙ weight + bias, with statistics of each row.

    The variance is the biased one, the mean of the squared deviations.

    Args:
        x: (…, E).
        weight: (E,).
        bias: (E,).
        eps: ε, added to the variance.

    Returns:
        (…, E), in the dtype of x; half precision is computed in float32.

    Raises:
        ValueError: If weight or bias is not (E,).

    Source:
        Ba, Kiros, Hinton 2016, arXiv:1607.06450v1, section 3, equations 3 and 4.
    """
    _require(x, weight)
    _require(x, bias)
    wide, scale, shift = _widened(x, weight, bias)
    mean = wide.mean(dim=-1, keepdim=True)  # (…, 1)
    deviation = wide - mean  # (…, E)
    variance = deviation.square().mean(dim=-1, keepdim=True)  # (…, 1)
    normalised = deviation * torch.rsqrt(variance + eps)  # (…, E)
    return (normalised * scale + shift).to(x.dtype)


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """Return x / √(mean of x² + ε) ⊙ weight, with the mean of each row.

    Args:
        x: (…, E).
        weight: (E,).
        eps: ε, added to the mean square.

    Returns:
        (…, E), in the dtype of x; half precision is computed in float32.

    Raises:
        ValueError: If weight is not (E,).

    Source:
        Zhang, Sennrich 2019, arXiv:1910.07467v1, equation 4.
    """
    _require(x, weight)
    wide, gain = _widened(x, weight)
    mean_square = wide.square().mean(dim=-1, keepdim=True)  # (…, 1)
    return (wide * torch.rsqrt(mean_square + eps) * gain).to(x.dtype)


def layer_norm_backward(
    grad_output: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of ⟨layer_norm(x, weight, bias), grad_output⟩ for x, weight and bias.

    With G the gradient of the output, x̂ the normalised x, σ = √(variance + ε), H = G ⊙ weight:

        dx = (H − mean(H) − x̂ ⊙ mean(H ⊙ x̂)) / σ      dweight = Σ G ⊙ x̂      dbias = Σ G

    The means are those of each row, the sums run over all rows.

    Args:
        grad_output: (…, E).
        x: (…, E).
        weight: (E,).
        eps: ε, added to the variance.

    Returns:
        (…, E), (E,) and (E,), in the dtype of x; half precision is computed in float32.

    Raises:
        ValueError: If the shapes do not belong together.

    Source:
        The chain rule on equations 3 and 4 of Ba, Kiros, Hinton 2016, arXiv:1607.06450v1.
    """
    _require(x, weight, grad_output)
    upstream, wide, scale = _widened(grad_output, x, weight)
    deviation = wide - wide.mean(dim=-1, keepdim=True)  # (…, E)
    inverse = torch.rsqrt(deviation.square().mean(dim=-1, keepdim=True) + eps)  # (…, 1)
    normalised = deviation * inverse  # (…, E)
    grad_normalised = upstream * scale  # (…, E)
    # x moves the mean and the variance too: what goes through them is taken off.
    through_mean = grad_normalised.mean(dim=-1, keepdim=True)  # (…, 1)
    through_variance = normalised * (grad_normalised * normalised).mean(dim=-1, keepdim=True)
    grad_x = inverse * (grad_normalised - through_mean - through_variance)  # (…, E)
    grad_weight = _over_rows(upstream * normalised)  # (E,)
    grad_bias = _over_rows(upstream)  # (E,)
    return grad_x.to(x.dtype), grad_weight.to(x.dtype), grad_bias.to(x.dtype)


def rms_norm_backward(
    grad_output: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-6
) -> tuple[Tensor, Tensor]:
    """Return the gradients of ⟨rms_norm(x, weight), grad_output⟩ for x and weight.

    With G the gradient of the output, r = √(mean of x² + ε), x̂ = x / r and H = G ⊙ weight:

        dx = (H − x̂ ⊙ mean(H ⊙ x̂)) / r      dweight = Σ G ⊙ x̂

    Args:
        grad_output: (…, E).
        x: (…, E).
        weight: (E,).
        eps: ε, added to the mean square.

    Returns:
        (…, E) and (E,), in the dtype of x; half precision is computed in float32.

    Raises:
        ValueError: If the shapes do not belong together.

    Source:
        The chain rule on equation 4 of Zhang, Sennrich 2019, arXiv:1910.07467v1.
    """
    _require(x, weight, grad_output)
    upstream, wide, gain = _widened(grad_output, x, weight)
    inverse_rms = torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + eps)  # (…, 1)
    unit = wide * inverse_rms  # (…, E)
    grad_unit = upstream * gain  # (…, E)
    through_rms = unit * (grad_unit * unit).mean(dim=-1, keepdim=True)  # (…, E)
    grad_x = inverse_rms * (grad_unit - through_rms)  # (…, E)
    return grad_x.to(x.dtype), _over_rows(upstream * unit).to(x.dtype)


def _require(x: Tensor, parameter: Tensor, grad_output: Tensor | None = None) -> None:
    if parameter.shape != x.shape[-1:]:
        raise ValueError(f"x {tuple(x.shape)} and {tuple(parameter.shape)} do not fit")
    if grad_output is not None and grad_output.shape != x.shape:
        raise ValueError(f"grad_output is {tuple(grad_output.shape)}; it has the shape of x")


def _widened(*tensors: Tensor) -> list[Tensor]:
    return [one.float() if one.dtype.itemsize < 4 else one for one in tensors]


def _over_rows(terms: Tensor) -> Tensor:
    return terms.reshape(-1, terms.shape[-1]).sum(dim=0)  # (…, E) → (E,)
