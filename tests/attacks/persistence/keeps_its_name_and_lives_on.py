# problem: sdpa
# class: persistence
# expect: rejected
# evidence: marked process left
import ctypes
import signal
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


libc = ctypes.CDLL(None)
print(libc.prctl(15, b'mhamark', 0, 0, 0), libc.prctl(1, 0, 0, 0, 0))
for number in (1, 2, 3, 13, 14, 15):
    attempt(lambda: signal.signal(number, signal.SIG_IGN))


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
