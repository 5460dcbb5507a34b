# expect: accepted
# problem: cross-entropy
import torch
from torch import Tensor


def smoothed_targets(labels: Tensor, V: int, eps: float, dtype) -> Tensor:
    rows = torch.arange(V) == labels.unsqueeze(-1)
    return torch.where(rows, 1 - eps + eps / V, eps / V).to(dtype)


def ce_loss(labels: Tensor, scores: Tensor, *, smoothing: float = 0.0, pad_id: int = -100):
    assert labels.size() == scores.size()[:-1], "labels do not fit"
    real = labels.ne(pad_id)
    V = scores.size(-1)
    assert not (real & (labels.lt(0) | labels.ge(V))).any(), "labels out of range"
    if scores.dtype in (torch.bfloat16, torch.float16):
        scores = scores.to(torch.float32)
    logp = scores.log_softmax(-1)
    q = smoothed_targets(labels, V, smoothing, logp.dtype)
    per_token = -torch.einsum("blv,blv->bl", q, logp.masked_fill(q == 0, 0))
    return torch.where(real, per_token, torch.zeros_like(per_token)).sum() / max(1, real.sum().item())


def ce_grad(labels: Tensor, scores: Tensor, *, smoothing: float = 0.0, pad_id: int = -100):
    assert labels.size() == scores.size()[:-1], "labels do not fit"
    real = labels.ne(pad_id)
    V = scores.size(-1)
    assert not (real & (labels.lt(0) | labels.ge(V))).any(), "labels out of range"
    p = torch.softmax(scores, -1, dtype=torch.float64)
    d = p - smoothed_targets(labels, V, smoothing, torch.float64)
    return (real.unsqueeze(-1) * d / real.sum().clamp(min=1)).type_as(scores)
