'''
title = "Right under the convention that folds heads into the batch: (B·H, L, D)"
killed_by = "split-shape"
explanation = """
Some code keeps three axes and makes every head a batch item. This contract keeps the heads as an \
axis of their own."""
hint = "How many axes does the contract's result have?"
'''


def split_heads(x, num_heads):
    if x.ndim != 3:
        raise ValueError("x is not (B, L, E)")
    batch, length, width = x.shape
    if num_heads < 1 or width % num_heads:
        raise ValueError("the heads do not divide the width")
    x = x.reshape(batch, length, num_heads, width // num_heads)
    return x.transpose(1, 2).reshape(batch * num_heads, length, width // num_heads)


def merge_heads(x):
    if x.ndim != 4:
        raise ValueError("x is not (B, H, L, D)")
    batch, num_heads, length, head_dim = x.shape
    x = x.transpose(1, 2)
    return x.reshape(batch, length, num_heads * head_dim)
