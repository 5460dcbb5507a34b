# problem: sdpa
# class: channel
# expect: rejected
# evidence: judge memory above a bound
import os
import torch

for _ in range(400):
    os.write(1, b'\xff\x1b[' * 20000)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
