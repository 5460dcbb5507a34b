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


# 1000 is not small: change True's neighbour, and a name that the worker uses
ctypes.memset(id(7) + 24, 9, 1)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
