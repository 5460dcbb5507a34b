'''
title = "The heads stay behind the positions: (B, L, H, D)"
killed_by = "split-shape"
explanation = """
The features are cut into heads, but heads and positions do not change places. A product over the \
last two axes would then compare heads, not positions."""
hint = "Which two axes should stand last when q is multiplied with k transposed?"
'''


def split_heads(x, num_heads):
    if x.ndim != 3:
        raise ValueError("x is not (B, L, E)")
    batch, length, width = x.shape
    if num_heads < 1 or width % num_heads:
        raise ValueError("the heads do not divide the width")
    return x.reshape(batch, length, num_heads, width // num_heads)


def merge_heads(x):
    if x.ndim != 4:
        raise ValueError("x is not (B, H, L, D)")
    batch, num_heads, length, head_dim = x.shape
    x = x.transpose(1, 2)
    return x.reshape(batch, length, num_heads * head_dim)
