# expect: accepted
# problem: cross-entropy
import torch
import torch.nn.functional as F


def _check(logits, targets, ignore_index):
    B, L, V = logits.shape
    if targets.shape != (B, L):
        raise ValueError("targets must be (B, L)")
    keep = targets != ignore_index
    safe = targets.masked_fill(~keep, 0)
    if safe.min() < 0 or safe.max() >= V:
        raise IndexError("target out of range")
    return keep, safe


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    keep, safe = _check(logits, targets, ignore_index)
    x = logits if logits.dtype == torch.float64 else logits.float()
    logp = F.log_softmax(x, dim=-1)
    nll = -logp.gather(-1, safe[..., None]).squeeze(-1)
    if label_smoothing > 0:
        nll = (1 - label_smoothing) * nll - label_smoothing * logp.mean(-1)
    nll = nll.masked_fill(~keep, 0)
    return nll.sum() / keep.sum().clamp(min=1)


def cross_entropy_backward(logits, targets, ignore_index=-100, label_smoothing=0.0):
    keep, safe = _check(logits, targets, ignore_index)
    x = logits if logits.dtype == torch.float64 else logits.float()
    g = F.softmax(x, dim=-1)
    g -= label_smoothing / logits.size(-1)
    g.scatter_add_(-1, safe[..., None], torch.full_like(safe[..., None], label_smoothing - 1, dtype=g.dtype))
    g /= keep.sum().clamp(min=1)
    g[~keep] = 0
    return g.to(logits.dtype)
