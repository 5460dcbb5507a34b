'''
title = "Features that do not fill a head are dropped"
killed_by = "split-bad-heads"
explanation = """
Where the heads do not divide the width the last features vanish without a word. The contract \
wants an exception."""
hint = "What comes out for a width of 10 and 3 heads, and where is feature 9?"
'''


def split_heads(x, num_heads):
    if x.ndim != 3:
        raise ValueError("x is not (B, L, E)")
    batch, length, width = x.shape
    width = width - width % num_heads
    x = x[:, :, :width]
    x = x.reshape(batch, length, num_heads, width // num_heads)
    return x.transpose(1, 2)


def merge_heads(x):
    if x.ndim != 4:
        raise ValueError("x is not (B, H, L, D)")
    batch, num_heads, length, head_dim = x.shape
    x = x.transpose(1, 2)
    return x.reshape(batch, length, num_heads * head_dim)
