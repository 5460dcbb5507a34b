'''
title = "Right under PyTorch's convention: a float mask is added, other masks block"
killed_by = "mask-dtypes"
explanation = """
A float mask is taken for an additive bias. In this contract a float mask holds 0 and 1 like any \
other, and 0 blocks."""
hint = "Convert one bool mask to float32 and pass both. Should the answers differ?"
'''

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("q and k differ in width")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError("k and v differ in length")
    if not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        raise ValueError("leading dimensions differ")
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        if mask.is_floating_point():
            scores = scores + mask
        else:
            scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
