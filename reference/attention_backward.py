"""The gradients of scaled dot-product attention, derived by hand."""
# … leading  L query length  S key length  D head size  Dv head size of values

import math

import torch
from torch import Tensor


def attention_backward(
    q: Tensor, k: Tensor, v: Tensor, grad_output: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of ⟨softmax(q kᵀ / √D) v, grad_output⟩ for q, k and v.

    With P the weights and G the gradient of the output:

        dV = Pᵀ G      dP = G Vᵀ      dS = P ⊙ (dP − rowsum(dP ⊙ P))
        dQ = dS K / √D      dK = dSᵀ Q / √D

    Args:
        q: (…, L, D).
        k: (…, S, D).
        v: (…, S, Dv).
        grad_output: (…, L, Dv).

    Returns:
        Gradients in the shapes of q, k and v.

    Raises:
        ValueError: If the shapes do not belong together.

    Source:
        Dao et al. 2022, arXiv:2205.14135v2, appendix B.2.
    """
    if q.shape[-1] != k.shape[-1] or k.shape[:-1] != v.shape[:-1]:
        raise ValueError(f"q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)} do not fit")
    if grad_output.shape != (*q.shape[:-1], v.shape[-1]):
        raise ValueError(f"grad_output is {tuple(grad_output.shape)}; it has the output's shape")
    scale = 1 / math.sqrt(q.shape[-1])
    scores = q @ k.transpose(-2, -1) * scale  # (…, L, S)
    weights = torch.softmax(scores, dim=-1)  # (…, L, S)

    grad_v = weights.transpose(-2, -1) @ grad_output  # (…, S, Dv)
    grad_weights = grad_output @ v.transpose(-2, -1)  # (…, L, S)
    # The softmax's Jacobian is diag(p) − p pᵀ: a row's gradient loses its mean under the weights.
    mean = (grad_weights * weights).sum(dim=-1, keepdim=True)  # (…, L, 1)
    grad_scores = weights * (grad_weights - mean)  # (…, L, S)
    grad_q = grad_scores @ k * scale  # (…, L, D)
    grad_k = grad_scores.transpose(-2, -1) @ q * scale  # (…, S, D)
    return grad_q, grad_k, grad_v
