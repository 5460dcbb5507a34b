'''
title = "The heads are reshaped straight to (B, L, E)"
killed_by = "merge-values"
explanation = """
reshape keeps the order in memory, where all positions of a head lie side by side. A row of the \
result then holds several positions of one head."""
hint = """
Whose numbers should stand side by side in one row: those of one head, or those of one position?"""
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
    return x.reshape(batch, length, num_heads * head_dim)
