# problem: sdpa
# class: escape
# expect: rejected
# evidence: connection to a loopback listener
# unconfined: shows
import ctypes
import struct
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


libc = ctypes.CDLL(None, use_errno=True)
address = struct.pack('<H', 2) + struct.pack('>H', 47999) + bytes([127, 0, 0, 1]) + bytes(8)
fd = libc.syscall(41, 2, 1, 0)
print(fd, libc.syscall(42, fd, address, 16))
for fd in range(64):
    libc.syscall(42, fd, address, 16)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
