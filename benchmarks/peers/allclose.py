"""Compares an answer with torch's own attention on three seeds, as one does in a hurry.

Usage: allclose.py PROBLEM; the answer is the module `answer`.
"""

import sys

import answer
import torch
from torch.nn.functional import scaled_dot_product_attention as official


def sdpa():
    q, k, v = torch.randn(2, 4, 6, 8), torch.randn(2, 4, 6, 8), torch.randn(2, 4, 6, 8)
    mask = torch.tril(torch.ones(6, 6)).bool()
    found = answer.scaled_dot_product_attention(q, k, v, mask)[0]
    return found, official(q, k, v, attn_mask=mask)


def gqa():
    layer, x = answer.GroupQueryAttention(32, 8, 2).eval(), torch.randn(2, 6, 32)
    mask = torch.tril(torch.ones(6, 6)).bool()
    q, k, v = (
        map_(x).view(2, 6, -1, 4).transpose(1, 2) for map_ in (layer.W_q, layer.W_k, layer.W_v)
    )
    expected = official(q, k, v, attn_mask=mask, enable_gqa=True)
    return layer(x, mask), layer.W_o(expected.transpose(1, 2).reshape(2, 6, 32))


for seed in range(3):
    torch.manual_seed(seed)
    found, expected = {"sdpa": sdpa, "gqa": gqa}[sys.argv[1]]()
    assert torch.allclose(found, expected, atol=1e-5)
