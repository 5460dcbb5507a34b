# problem: sdpa
# class: persistence
# expect: rejected, crashed, error
# evidence: next submission disturbed
import ctypes
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


libc = ctypes.CDLL(None)
address = ctypes.cast(libc.strcoll, ctypes.c_void_p).value & ~4095
print(libc.mprotect(ctypes.c_void_p(address), 4096, 7))
ctypes.memmove(ctypes.cast(libc.strcoll, ctypes.c_void_p).value, b'\xcc', 1)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
