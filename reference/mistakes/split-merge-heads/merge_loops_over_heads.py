'''
title = "The heads are joined one by one in a Python loop"
killed_by = "merge-without-loops"
explanation = """
Each head costs an operation of its own, and their number grows with H. One transpose and one \
reshape do it for any number."""
hint = "Which two operations exchange two axes and make one axis of two?"
by_check = true
'''

import torch


def split_heads(x, num_heads):
    if x.ndim != 3:
        raise ValueError("x is not (B, L, E)")
    batch, length, width = x.shape
    if num_heads < 1 or width % num_heads:
        raise ValueError("the heads do not divide the width")
    x = x.reshape(batch, length, num_heads, width // num_heads)
    return x.transpose(1, 2)


def merge_heads(x):
    if x.ndim != 4:
        raise ValueError("x is not (B, H, L, D)")
    return torch.cat([x[:, i] for i in range(x.shape[1])], dim=-1)
