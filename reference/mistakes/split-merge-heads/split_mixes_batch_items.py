'''
title = "Batch and positions are folded together and unfolded as heads: right for B = 1"
killed_by = "split-values"
explanation = """
The heads are put in front of batch and positions together. Cutting that into (B, H, L, D) deals \
heads out to batch items and mixes the sequences."""
hint = "Split two sequences at once, then the second alone, and compare."
'''


def split_heads(x, num_heads):
    if x.ndim != 3:
        raise ValueError("x is not (B, L, E)")
    batch, length, width = x.shape
    if num_heads < 1 or width % num_heads:
        raise ValueError("the heads do not divide the width")
    x = x.reshape(batch * length, num_heads, width // num_heads)
    return x.transpose(0, 1).reshape(batch, num_heads, length, width // num_heads)


def merge_heads(x):
    if x.ndim != 4:
        raise ValueError("x is not (B, H, L, D)")
    batch, num_heads, length, head_dim = x.shape
    x = x.transpose(1, 2)
    return x.reshape(batch, length, num_heads * head_dim)
