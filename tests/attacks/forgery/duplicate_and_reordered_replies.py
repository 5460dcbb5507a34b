# problem: sdpa
# class: forgery
# expect: rejected
# evidence: changed verdict
import json
import os
import struct
import mha_judge.worker.serve as serve
import torch

plain = serve._write
HELD = []


def shuffled(descriptor, data):
    HELD.append(data)
    plain(descriptor, HELD[0] if len(HELD) % 3 == 0 else data)
    if len(HELD) % 2:
        plain(descriptor, data + HELD[0])


serve._write = shuffled


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
