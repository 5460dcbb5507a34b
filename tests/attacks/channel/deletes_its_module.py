# problem: sdpa
# class: channel
# expect: rejected, error, crashed
# evidence: changed verdict
import sys
import torch

sys.modules.clear()


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
