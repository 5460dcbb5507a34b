'''
title = "The heads are moved behind the positions and not joined: (B, L, H, D)"
killed_by = "merge-shape"
explanation = """
The axes are in order, but heads and features are still two axes. Merging makes one of them."""
hint = "How many axes does the contract's result have?"
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
    return x.transpose(1, 2)
