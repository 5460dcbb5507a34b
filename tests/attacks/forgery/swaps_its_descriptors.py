# problem: sdpa
# class: forgery
# expect: crashed, timeout, error
# evidence: next submission disturbed
# limits: short
import os
import torch

open_ones = []
for fd in range(64):
    try:
        os.fstat(fd)
        open_ones.append(fd)
    except OSError:
        pass
for one in open_ones:
    for other in open_ones:
        if one != other:
            os.dup2(one, other)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
