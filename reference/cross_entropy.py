"""The mean cross-entropy of logits, and its gradient derived by hand."""
# B batch  L length  V classes, the size of the vocabulary

import torch
from torch import Tensor


def cross_entropy(
    logits: Tensor, targets: Tensor, ignore_index: int = -100, label_smoothing: float = 0.0
) -> Tensor:
    """Return the mean loss of the positions whose target counts.

    With p = softmax(logits) at a position, y its target and ε the smoothing:

        loss = −Σ_v q_v log p_v      q_v = (1 − ε) [v = y] + ε / V

    Args:
        logits: (B, L, V).
        targets: (B, L), int64; logits[b, l] are compared with targets[b, l].
        ignore_index: Positions with this target count for nothing.
        label_smoothing: ε, from 0 to less than 1.

    Returns:
        A tensor of no dimensions, in the dtype of the logits but in float32 at least; 0 if no
        position counts.

    Raises:
        ValueError: If targets are not (B, L), or one that counts is no class.

    Source:
        Szegedy et al. 2016, arXiv:1512.00567v3, section 7; used in Vaswani et al. 2017,
        arXiv:1706.03762v7, section 5.4.
    """
    log_probs, wanted, kept = _compared(logits, targets, ignore_index, label_smoothing)
    counts = kept & (wanted > 0)  # (B, L, V); 0 · ∞ is to be 0 where a logit is −∞
    terms = torch.where(counts, -wanted * log_probs, 0.0)  # (B, L, V)
    return terms.sum() / kept.sum().clamp(min=1)


def cross_entropy_backward(
    logits: Tensor, targets: Tensor, ignore_index: int = -100, label_smoothing: float = 0.0
) -> Tensor:
    """Return the gradient of `cross_entropy` for the logits.

    The derivative of log p_v for the logit z_w is [v = w] − p_w, and Σ_v q_v = 1. So with n
    positions that count, each of them has the gradient (p − q) / n.

    Args:
        logits: (B, L, V).
        targets: (B, L), int64.
        ignore_index: Positions with this target have a gradient of 0.
        label_smoothing: ε, from 0 to less than 1.

    Returns:
        (B, L, V), in the dtype of the logits; 0 everywhere if no position counts.

    Raises:
        ValueError: If targets are not (B, L), or one that counts is no class.

    Source:
        Szegedy et al. 2016, arXiv:1512.00567v3, section 7: ∂ℓ/∂z_k = p(k) − q(k).
    """
    log_probs, wanted, kept = _compared(logits, targets, ignore_index, label_smoothing)
    grad = torch.where(kept, log_probs.exp() - wanted, 0.0)  # (B, L, V)
    grad = grad / kept.sum().clamp(min=1)  # (B, L, V)
    return grad.to(logits.dtype)


def _compared(
    logits: Tensor, targets: Tensor, ignore_index: int, label_smoothing: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return log p and q, each (B, L, V), and which positions count, (B, L, 1)."""
    if targets.shape != logits.shape[:-1]:
        raise ValueError(f"targets are {tuple(targets.shape)}, logits {tuple(logits.shape)}")
    classes = logits.shape[-1]
    kept = targets != ignore_index  # (B, L)
    chosen = torch.where(kept, targets, 0)  # (B, L); what is ignored may be no class
    if bool(((chosen < 0) | (chosen >= classes)).any()):
        raise ValueError(f"a target that counts is not in 0…{classes - 1}")
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))  # (B, L, V)
    shifted = wide - wide.amax(dim=-1, keepdim=True)  # (B, L, V); the largest is 0
    log_probs = shifted - shifted.exp().sum(dim=-1, keepdim=True).log()  # (B, L, V)
    one_hot = torch.zeros_like(log_probs).scatter(-1, chosen.unsqueeze(-1), 1.0)  # (B, L, V)
    wanted = (1 - label_smoothing) * one_hot + label_smoothing / classes  # (B, L, V)
    return log_probs, wanted, kept.unsqueeze(-1)
