# problem: sdpa
# class: escape
# expect: crashed
# evidence: next submission disturbed
import ctypes
import torch

libc = ctypes.CDLL(None)
print(libc.syscall(0x40000000 | 57))  # fork


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
