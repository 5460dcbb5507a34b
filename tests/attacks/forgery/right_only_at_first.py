# problem: sdpa
# class: forgery
# expect: rejected
# evidence: changed verdict
import torch

CALLS = []


def scaled_dot_product_attention(q, k, v, mask=None):
    CALLS.append(1)
    scale = q.shape[-1] ** 0.5 if len(CALLS) < 9 else 1.0
    weights = torch.softmax(q @ k.transpose(-2, -1) / scale, dim=-1)
    return weights @ v, weights
