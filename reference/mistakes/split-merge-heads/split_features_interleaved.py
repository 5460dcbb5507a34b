'''
title = "Features are dealt out to the heads in turn"
killed_by = "split-values"
explanation = """
Head h gets the features h, h + H, h + 2H … where the contract gives it h·D … h·D+D−1. No \
checkpoint is laid out like that."""
hint = "Split 0 1 2 3 into two heads. What does the first hold, by the contract and here?"
'''


def split_heads(x, num_heads):
    if x.ndim != 3:
        raise ValueError("x is not (B, L, E)")
    batch, length, width = x.shape
    if num_heads < 1 or width % num_heads:
        raise ValueError("the heads do not divide the width")
    x = x.reshape(batch, length, width // num_heads, num_heads)
    return x.permute(0, 3, 1, 2)


def merge_heads(x):
    if x.ndim != 4:
        raise ValueError("x is not (B, H, L, D)")
    batch, num_heads, length, head_dim = x.shape
    x = x.transpose(1, 2)
    return x.reshape(batch, length, num_heads * head_dim)
