# expect: accepted
# problem: sampling
import math

import torch
from torch import Tensor


def filter_logits(logits: Tensor, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0) -> Tensor:
    """Filters on log-probabilities; every default leaves everything."""
    if top_k < 0 or top_k != int(top_k):
        raise ValueError("top_k")
    if min(temperature, top_p, min_p) < 0 or max(top_p, min_p) > 1:
        raise ValueError("out of range")
    top = logits.argmax(-1, keepdim=True)
    if temperature == 0:
        return torch.zeros_like(logits).scatter_(-1, top, 1)
    wide = torch.promote_types(logits.dtype, torch.float32)
    logp = torch.log_softmax(logits.to(wide) / temperature, -1)
    if 0 < top_k < logits.shape[-1]:
        cut = logp.detach().kthvalue(logits.shape[-1] - top_k + 1, -1, keepdim=True).values
        logp = torch.log_softmax(logp.masked_fill(logp < cut, -torch.inf), -1)
    if top_p < 1:
        down, ids = logp.detach().sort(-1, descending=True)
        reached = down.logcumsumexp(-1).exp()
        inside = torch.ones_like(reached, dtype=torch.bool)
        inside[..., 1:] = reached[..., :-1] < top_p
        keep = torch.zeros_like(inside).scatter_(-1, ids, inside)
        logp = torch.log_softmax(logp.masked_fill(~keep, -torch.inf), -1)
    if min_p > 0:
        lowest = logp.detach().gather(-1, top) + math.log(min_p)
        logp = torch.log_softmax(logp.masked_fill(logp < lowest, -torch.inf), -1)
    return logp.exp().to(logits.dtype)


def filtered_probabilities(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    if top_k is not None and top_k < 1:
        raise ValueError("top_k")
    top_k, top_p, min_p = top_k or 0, 1 if top_p is None else top_p, min_p or 0
    return filter_logits(logits, temperature, top_k, top_p, min_p)


def sample(probabilities: Tensor, uniform: Tensor) -> Tensor:
    if uniform.shape != probabilities.shape[:-1]:
        raise RuntimeError("shapes")
    sums = probabilities.double().cumsum(-1)
    sums = sums / sums[..., -1:]  # ends at 1 exactly
    return (sums > uniform[..., None]).byte().argmax(-1)
