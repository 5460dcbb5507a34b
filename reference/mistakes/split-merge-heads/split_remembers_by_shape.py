'''
title = "The heads are remembered by the shape of the features"
killed_by = "split-non-contiguous"
explanation = """
A second call with the same shape gets the heads of the first, whatever its features are. The \
shape does not say what is in a tensor."""
hint = "Split two different tensors of the same shape, one after the other."
by_chance = true
'''

_seen = {}


def split_heads(x, num_heads):
    if x.ndim != 3:
        raise ValueError("x is not (B, L, E)")
    batch, length, width = x.shape
    if num_heads < 1 or width % num_heads:
        raise ValueError("the heads do not divide the width")
    key = (x.shape, num_heads)
    if key not in _seen:
        _seen[key] = x.reshape(batch, length, num_heads, width // num_heads).transpose(1, 2)
    return _seen[key]


def merge_heads(x):
    if x.ndim != 4:
        raise ValueError("x is not (B, H, L, D)")
    batch, num_heads, length, head_dim = x.shape
    x = x.transpose(1, 2)
    return x.reshape(batch, length, num_heads * head_dim)
