'''
title = "The output comes from torch's fused attention"
killed_by = "written-from-scratch"
explanation = """
F.scaled_dot_product_attention gives the right numbers, but the exercise is to write what it \
does."""
hint = """
It is four lines: scores, mask, softmax, product."""
by_check = true
'''

import torch


def sparse_mask(length, window, stride, num_global):
    if stride < 1:
        raise ValueError("the stride is below 1")
    if min(length, window, num_global) < 0:
        raise ValueError("a size is negative")
    query = torch.arange(length).unsqueeze(1)
    key = torch.arange(length)
    distance = query - key
    near = distance.abs() <= window
    strided = distance % stride == 0
    anchored = torch.minimum(query, key) < num_global
    return near | strided | anchored


def sparse_attention(q, k, v, mask):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    if mask.dtype is not torch.bool or mask.shape != (q.shape[-2], q.shape[-2]):
        raise ValueError("the mask is not boolean (L, L)")
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, mask)
