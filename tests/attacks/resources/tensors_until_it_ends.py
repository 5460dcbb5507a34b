# problem: sdpa
# class: resources
# expect: error, crashed, timeout
# evidence: judge memory above a bound
# limits: short
import torch

KEPT = []
while True:
    KEPT.append(torch.ones(1 << 22))


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
