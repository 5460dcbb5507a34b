# problem: sdpa
# class: escape
# expect: rejected
# evidence: changed verdict
import ctypes
import os
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


libc = ctypes.CDLL(None)
attempt(lambda: os.setuid(0))
attempt(lambda: os.setresuid(0, 0, 0))
attempt(lambda: os.setgroups([0]))
attempt(lambda: os.chroot('/tmp'))
attempt(lambda: os.chmod('/tmp/mha-judge-canary', 0o6777))
attempt(lambda: os.execv('/bin/su', ['su']))
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
data = (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)
print(libc.capset(header, data), libc.prctl(47, 2, 0, 0, 0))


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
