# problem: sdpa
# class: persistence
# expect: rejected
# evidence: marked process left
# unconfined: shows
import ctypes
import os
import time
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


def detach():
    if os.fork() == 0:
        os.setsid()
        ctypes.CDLL(None).prctl(15, b'mhamark', 0, 0, 0)
        ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
        time.sleep(20)
        os._exit(0)


attempt(detach)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
