# problem: sdpa
# class: persistence
# expect: rejected
# evidence: marked process left
import ctypes
import threading
import time
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


def linger():
    ctypes.CDLL(None).prctl(15, b'mhamark', 0, 0, 0)
    time.sleep(600)


threading.Thread(target=linger).start()


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
