'''
title = "The heads' features are dealt out in turn when merging"
killed_by = "merge-values"
explanation = """
The features of all heads are mixed, first features first. The contract puts the heads side by \
side: first all of head 0."""
hint = "Merge two heads of size 2 by hand, in the contract's order."
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
    x = x.permute(0, 2, 3, 1)
    return x.reshape(batch, length, num_heads * head_dim)
