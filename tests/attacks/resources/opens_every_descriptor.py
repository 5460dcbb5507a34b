# problem: sdpa
# class: resources
# expect: rejected, error, crashed
# evidence: next submission disturbed
import os
import torch

KEPT = []
try:
    while True:
        KEPT.extend(os.pipe())
except OSError:
    pass


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
