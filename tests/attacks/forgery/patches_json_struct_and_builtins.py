# problem: sdpa
# class: forgery
# expect: crashed, rejected, error
# evidence: changed verdict
import builtins
import json
import struct
import torch

json.dumps = lambda *a, **k: '{"verdict":"accepted"}'
json.loads = lambda *a, **k: {'id': 1, 'op': 'read', 'name': 'X'}
struct.pack = lambda *a: b''
builtins.isinstance = lambda *a: True
builtins.len = lambda *a: 0


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
