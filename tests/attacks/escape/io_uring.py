# problem: sdpa
# class: escape
# expect: rejected
# evidence: canary file written
import ctypes
import os
import torch

libc = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    result = libc.syscall(number, *map(ctypes.c_long, arguments))
    print(number, result, ctypes.get_errno())


page = ctypes.create_string_buffer(4096)
call(425, 8, ctypes.addressof(page))
call(426, 3, 1, 0, 0, 0)
call(427, 3, 0, 0, 0)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
