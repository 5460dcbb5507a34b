# problem: sdpa
# class: resources
# expect: crashed, error, timeout
# evidence: next submission disturbed
# limits: short
import sys
import torch

sys.setrecursionlimit(10**9)


def deeper(x):
    return repr([deeper(x), x])


deeper(0)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
