'''
title = "Sizes of 1 are squeezed out of the heads"
killed_by = "split-size-one"
explanation = """
squeeze() drops every axis of size 1: with one sequence, one head or one position the result \
loses a dimension."""
hint = "Split a batch of 1 and print the shape."
'''


def split_heads(x, num_heads):
    if x.ndim != 3:
        raise ValueError("x is not (B, L, E)")
    batch, length, width = x.shape
    if num_heads < 1 or width % num_heads:
        raise ValueError("the heads do not divide the width")
    x = x.reshape(batch, length, num_heads, width // num_heads)
    return x.transpose(1, 2).squeeze()


def merge_heads(x):
    if x.ndim != 4:
        raise ValueError("x is not (B, H, L, D)")
    batch, num_heads, length, head_dim = x.shape
    x = x.transpose(1, 2)
    return x.reshape(batch, length, num_heads * head_dim)
