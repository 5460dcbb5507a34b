'''
title = "Each head is returned transposed: (B, H, D, L)"
killed_by = "split-shape"
explanation = """
This is the layout that keys have in the product with queries. The contract wants (B, H, L, D); \
whoever needs keys transposed does it there."""
hint = "Print the shape for 5 positions and heads of size 7."
'''


def split_heads(x, num_heads):
    if x.ndim != 3:
        raise ValueError("x is not (B, L, E)")
    batch, length, width = x.shape
    if num_heads < 1 or width % num_heads:
        raise ValueError("the heads do not divide the width")
    x = x.reshape(batch, length, num_heads, width // num_heads)
    return x.permute(0, 2, 3, 1)


def merge_heads(x):
    if x.ndim != 4:
        raise ValueError("x is not (B, H, L, D)")
    batch, num_heads, length, head_dim = x.shape
    x = x.transpose(1, 2)
    return x.reshape(batch, length, num_heads * head_dim)
