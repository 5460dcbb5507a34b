'''
title = "The heads are cut out one by one in a Python loop"
killed_by = "split-without-loops"
explanation = """
Each head costs a slice of its own, and the number of operations grows with H. One reshape and \
one transpose do it for any number."""
hint = "Which two operations cut an axis in two and exchange two axes?"
by_check = true
'''

import torch


def split_heads(x, num_heads):
    if x.ndim != 3:
        raise ValueError("x is not (B, L, E)")
    _, _, width = x.shape
    if num_heads < 1 or width % num_heads:
        raise ValueError("the heads do not divide the width")
    size = width // num_heads
    heads = [x[..., i * size : (i + 1) * size] for i in range(num_heads)]
    return torch.stack(heads, dim=1)


def merge_heads(x):
    if x.ndim != 4:
        raise ValueError("x is not (B, H, L, D)")
    batch, num_heads, length, head_dim = x.shape
    x = x.transpose(1, 2)
    return x.reshape(batch, length, num_heads * head_dim)
