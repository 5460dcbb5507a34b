# expect: rejected
# problem: sdpa
# mistake: no score is thought to be lower than the least number of float16
import torch

LEAST = torch.finfo(torch.float16).min


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("sizes do not fit")
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        scores = torch.where(mask.bool(), scores, -torch.inf)
    highest = scores.amax(-1, keepdim=True).clamp_min(LEAST)
    weights = (scores - highest).exp()
    weights = weights / weights.sum(-1, keepdim=True)
    return weights @ v, weights
