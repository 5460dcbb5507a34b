'''
title = "On a GPU the inputs are rounded to half precision"
killed_by = "gpu-float32"
explanation = """
Half precision is faster on a GPU and has three digits. A caller who passes float32 asked for \
seven."""
hint = "In which dtype does the caller want the answer to be right?"
device = "cuda"
by_chance = true
'''

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"q is {q.shape[-1]} wide and k {k.shape[-1]}; both need width D")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"k holds {k.shape[-2]} positions and v {v.shape[-2]}; both need S")
    if not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        raise ValueError(
            f"leading dimensions differ: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}"
        )
    q, k, v = (x.half().to(x.dtype) if x.is_cuda else x for x in (q, k, v))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return (weights @ v, weights)
