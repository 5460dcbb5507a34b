# problem: sdpa
# class: resources
# expect: error
# evidence: judge memory above a bound
import torch

BIG = torch.empty(1 << 38)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
