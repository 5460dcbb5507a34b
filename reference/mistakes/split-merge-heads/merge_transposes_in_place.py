'''
title = "The caller's heads are transposed in place"
killed_by = "inputs-unchanged"
explanation = """
transpose_ changes the tensor that was passed in: the caller's heads have another shape \
afterwards."""
hint = "Print the shape of the heads before and after the call."
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
    x.transpose_(1, 2)
    return x.reshape(batch, length, num_heads * head_dim)
