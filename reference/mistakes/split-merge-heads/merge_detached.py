'''
title = "Merging cuts the graph"
killed_by = "gradients"
explanation = """
The features are right, but no gradient goes back through them to the heads."""
hint = "Call backward on a sum of the features and look at x.grad."
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
    x = x.detach().transpose(1, 2)
    return x.reshape(batch, length, num_heads * head_dim)
