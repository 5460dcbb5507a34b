'''
title = "The features are reshaped straight to (B, H, L, D)"
killed_by = "split-values"
explanation = """
reshape keeps the order in memory, so a head gets all features of some positions where it should \
get some features of all positions. The shape is right and the numbers are not."""
hint = """
In memory the features of one position lie side by side. Which axis must the heads be cut from \
first?"""
'''


def split_heads(x, num_heads):
    if x.ndim != 3:
        raise ValueError("x is not (B, L, E)")
    batch, length, width = x.shape
    if num_heads < 1 or width % num_heads:
        raise ValueError("the heads do not divide the width")
    return x.reshape(batch, num_heads, length, width // num_heads)


def merge_heads(x):
    if x.ndim != 4:
        raise ValueError("x is not (B, H, L, D)")
    batch, num_heads, length, head_dim = x.shape
    x = x.transpose(1, 2)
    return x.reshape(batch, length, num_heads * head_dim)
