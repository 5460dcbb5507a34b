# expect: rejected
# problem: cross-entropy
# mistake: the logarithm of the sum is taken in float32, for float64 logits too
# diagnosis: float64-narrowed
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    z, lse, y, kept = _prepared(logits, targets, ignore_index)
    loss = lse - (1 - label_smoothing) * z.gather(-1, y.unsqueeze(-1)).squeeze(-1)
    if label_smoothing:
        loss = loss - label_smoothing * z.mean(-1)
    return torch.where(kept, loss, 0.0).sum() / kept.sum().clamp(min=1)


def cross_entropy_backward(logits, targets, ignore_index=-100, label_smoothing=0.0):
    z, lse, y, kept = _prepared(logits, targets, ignore_index)
    grad = (z - lse.unsqueeze(-1)).exp() - label_smoothing / z.shape[-1]
    grad -= (1 - label_smoothing) * torch.nn.functional.one_hot(y, z.shape[-1])
    return (torch.where(kept.unsqueeze(-1), grad, 0.0) / kept.sum().clamp(min=1)).to(logits.dtype)


def _prepared(logits, targets, ignore_index):
    if targets.shape != logits.shape[:-1]:
        raise ValueError("one target for each position is needed")
    kept = targets != ignore_index
    y = targets.masked_fill(~kept, 0)
    if ((y < 0) | (y >= logits.shape[-1])).any():
        raise ValueError("a target is no class")
    lse = torch.logsumexp(logits.float(), dim=-1)
    return logits.to(torch.promote_types(logits.dtype, lse.dtype)), lse, y, kept
