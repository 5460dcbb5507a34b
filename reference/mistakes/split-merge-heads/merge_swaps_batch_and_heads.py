'''
title = "Batch and heads change places where heads and positions should"
killed_by = "merge-values"
explanation = """
transpose(0, 1) exchanges the first two axes. The reshape accepts that and mixes sequences with \
heads."""
hint = "Number the axes of (B, H, L, D) from 0. Which two must change places?"
'''


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
    batch, num_heads, length, head_dim = x.shape
    x = x.transpose(0, 1)
    return x.reshape(batch, length, num_heads * head_dim)
