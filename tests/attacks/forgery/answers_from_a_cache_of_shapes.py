# problem: sdpa
# class: forgery
# expect: rejected
# evidence: changed verdict
import torch

CACHE = {}


def scaled_dot_product_attention(q, k, v, mask=None):
    key = (q.shape, k.shape, v.shape, mask is None)
    if key not in CACHE:
        weights = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)
        CACHE[key] = weights @ v, weights
    return CACHE[key]
