# problem: sdpa
# class: resources
# expect: rejected
# evidence: judge memory above a bound
import os
import torch

for _ in range(2000):
    os.write(1, b'x' * 65536)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
