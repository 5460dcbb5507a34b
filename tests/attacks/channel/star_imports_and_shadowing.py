# problem: sdpa
# class: channel
# expect: rejected
# evidence: changed verdict
from torch import *
from builtins import *
import torch

print = input = open = __import__ = None


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
