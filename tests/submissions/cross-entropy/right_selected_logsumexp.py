# expect: accepted
# problem: cross-entropy
import torch


@torch.no_grad()
def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    assert logits.dim() == 3 and targets.shape == logits.shape[:2]
    V = logits.shape[-1]
    z, y = logits.reshape(-1, V), targets.reshape(-1)
    z, y = z[y != ignore_index], y[y != ignore_index]
    dtype = torch.float64 if logits.dtype is torch.float64 else torch.float32
    if not len(y):
        return torch.zeros((), dtype=dtype)
    assert ((0 <= y) & (y < V)).all()
    z = z.to(dtype)
    lse = torch.logsumexp(z, dim=1)
    picked = z[torch.arange(len(y)), y]
    if label_smoothing:
        picked = picked * (1 - label_smoothing) + label_smoothing * z.mean(1)
    return (lse - picked).mean()


@torch.no_grad()
def cross_entropy_backward(logits, targets, ignore_index=-100, label_smoothing=0.0):
    assert logits.dim() == 3 and targets.shape == logits.shape[:2]
    V = logits.shape[-1]
    grad = torch.zeros(logits.shape, dtype=logits.dtype)
    rows = (targets != ignore_index).nonzero(as_tuple=True)
    y = targets[rows]
    if len(y):
        assert y.min() >= 0 and y.max() < V
        z = logits[rows].to(torch.promote_types(logits.dtype, torch.float32))
        d = (z - z.logsumexp(1, keepdim=True)).exp() - label_smoothing / V
        d[torch.arange(len(y)), y] -= 1 - label_smoothing
        grad[rows] = (d / len(y)).to(grad.dtype)
    return grad
