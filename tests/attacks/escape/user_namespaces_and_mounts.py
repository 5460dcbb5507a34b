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


for flags in (0x10000000, 0x20000, 0x40000000, 0x7E020000, 0x20000000):
    call(272, flags)
    call(56, flags | 17, 0, 0, 0, 0)
call(165, 0, 0, 0, 0, 0)
call(161, 0)
call(155, 0, 0)
call(308, 0, 0)
for number in (428, 429, 430, 431, 432, 442):
    call(number, 0, 0, 0, 0, 0)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
