# problem: sdpa
# class: forgery
# expect: crashed, timeout
# evidence: next submission disturbed
# limits: short
import os
import torch

os.closerange(0, 64)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
