# problem: sdpa
# class: resources
# expect: timeout
# evidence: next submission disturbed
# limits: short
import os
import torch

while True:
    os.write(1, b'\x1b[2J' * 16384)
    os.write(2, b'y' * 65536)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
