# expect: accepted
# problem: cross-entropy
import numpy as np
import torch


def _prepare(logits, targets, ignore_index, eps):
    if targets.ndim != 2 or list(targets.shape) != list(logits.shape)[:2]:
        raise ValueError((targets.shape, logits.shape))
    z = logits.double().numpy()
    y = targets.numpy()
    use = y != ignore_index
    V = z.shape[-1]
    if np.any((y[use] < 0) | (y[use] >= V)):
        raise ValueError("no such class")
    z = z - z.max(axis=-1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    q = np.eye(V)[np.where(use, y, 0)] * (1 - eps) + eps / V
    return logp, q, use


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logp, q, use = _prepare(logits, targets, ignore_index, label_smoothing)
    with np.errstate(invalid="ignore"):
        terms = np.where(q == 0, 0.0, q * logp).sum(-1)
    loss = -terms[use].sum() / max(use.sum(), 1)
    return torch.tensor(loss, dtype=torch.promote_types(logits.dtype, torch.float32))


def cross_entropy_backward(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logp, q, use = _prepare(logits, targets, ignore_index, label_smoothing)
    grad = np.where(use[..., None], np.exp(logp) - q, 0.0) / max(use.sum(), 1)
    return torch.from_numpy(grad).to(logits.dtype)
