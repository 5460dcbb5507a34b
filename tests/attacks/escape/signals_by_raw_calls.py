# problem: sdpa
# class: escape
# expect: rejected
# evidence: next submission disturbed
import ctypes
import os
import torch

libc = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    result = libc.syscall(number, *map(ctypes.c_long, arguments))
    print(number, result, ctypes.get_errno())


parent = os.getppid()
call(62, parent | (os.getpid() << 32), 9)
call(200, parent, 9)
call(234, parent, parent, 9)
call(129, parent, 9, 0)
call(297, parent, parent, 9, 0)
call(424, 0, 9, 0, 0)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
