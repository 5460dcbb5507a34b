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
for number in (248, 249, 250, 321, 298, 323, 313, 175, 246, 169, 300, 304, 303, 310):
    call(number, ctypes.addressof(page), 0, 0, 0, 0)
call(444, 0, 0, 1)
call(446, 3, 0)
call(317, 1, 0, 0)
call(157, 38, 1, 0, 0, 0)
call(157, 22, 2, 0)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
