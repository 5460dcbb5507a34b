# problem: sdpa
# class: forgery
# expect: rejected, accepted
# evidence: changed verdict
# why: wrong only where an address is given twice; every value that was right was computed
import torch

CACHE = {}


def scaled_dot_product_attention(q, k, v, mask=None):
    key = (id(q), id(k), id(v))
    if key not in CACHE:
        CACHE[key] = attend(q, k, v, mask)
    return CACHE[key]


def attend(q, k, v, mask):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float('-inf'))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
