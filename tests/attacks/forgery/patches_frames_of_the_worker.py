# problem: sdpa
# class: forgery
# expect: rejected, crashed, error
# evidence: changed verdict
import ctypes
import sys
import torch

frame = sys._getframe()
while frame is not None:
    for name in list(frame.f_locals):
        if name in ('header', 'value', 'fields', 'number'):
            frame.f_locals[name] = {'definitions': {}, 'verdict': 'accepted'}
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
    frame = frame.f_back


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
