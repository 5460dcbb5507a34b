'''
title = "Batch and heads are folded together and merged as heads: right for B = 1"
killed_by = "merge-values"
explanation = """
The positions are put in front of batch and heads together, so a row holds the heads of several \
sequences."""
hint = "Merge two sequences at once, then the second alone, and compare."
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
    x = x.reshape(batch * num_heads, length, head_dim).transpose(0, 1)
    return x.reshape(batch, length, num_heads * head_dim)
