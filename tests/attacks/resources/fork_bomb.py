# problem: sdpa
# class: resources
# expect: rejected
# evidence: marked process left
import os
import ctypes
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


libc = ctypes.CDLL(None)
libc.prctl(15, b'mhamark', 0, 0, 0)
for _ in range(20):
    attempt(os.fork)
    attempt(lambda: libc.fork())
    attempt(lambda: libc.vfork())
    attempt(lambda: libc.syscall(57))
    attempt(lambda: libc.syscall(435, 0, 0))


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
