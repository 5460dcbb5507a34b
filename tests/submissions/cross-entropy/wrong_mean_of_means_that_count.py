# expect: rejected
# problem: cross-entropy
# mistake: a mean for each item, then a mean of the items that have targets
# diagnosis: mean-of-items
import torch


def _prepare(logits, targets, ignore_index):
    if targets.shape != logits.shape[:-1]:
        raise ValueError("targets must be (B, L)")
    V = logits.shape[-1]
    valid = targets != ignore_index
    if ((targets < 0) | (targets >= V))[valid].any():
        raise ValueError("target out of range")
    if logits.dtype in (torch.bfloat16, torch.float16):
        logits = logits.float()
    return logits, valid, targets.where(valid, torch.zeros_like(targets))


def _position_weights(valid, dtype):
    """What each position counts for in the mean."""
    valid = valid.to(dtype)
    per_item = valid.sum(dim=1, keepdim=True).clamp(min=1)
    items = (valid.sum(dim=1) > 0).sum().clamp(min=1)
    return valid / per_item / items


@torch.no_grad()
def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    x, valid, y = _prepare(logits, targets, ignore_index)
    logp = torch.log_softmax(x, dim=-1)
    loss = -logp.gather(-1, y.unsqueeze(-1)).squeeze(-1)
    if label_smoothing > 0:
        loss = (1 - label_smoothing) * loss - label_smoothing * logp.mean(dim=-1)
    loss = torch.where(valid, loss, torch.zeros_like(loss))
    return (loss * _position_weights(valid, loss.dtype)).sum()


@torch.no_grad()
def cross_entropy_backward(logits, targets, ignore_index=-100, label_smoothing=0.0):
    x, valid, y = _prepare(logits, targets, ignore_index)
    q = torch.full_like(x, label_smoothing / x.shape[-1])
    q.scatter_add_(-1, y.unsqueeze(-1), torch.full_like(x[..., :1], 1 - label_smoothing))
    grad = torch.softmax(x, dim=-1) - q
    grad = grad * _position_weights(valid, x.dtype).unsqueeze(-1)
    return grad.to(logits.dtype)
