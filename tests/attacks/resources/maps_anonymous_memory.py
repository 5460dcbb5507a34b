# problem: sdpa
# class: resources
# expect: error, crashed, timeout
# evidence: judge memory above a bound
# limits: short
import mmap
import torch

KEPT = []
while True:
    page = mmap.mmap(-1, 1 << 28)
    page[:: 4096] = b'x' * (len(page) // 4096)
    KEPT.append(page)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
