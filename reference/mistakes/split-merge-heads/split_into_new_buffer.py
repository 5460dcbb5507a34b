'''
title = "The heads are copied into a float32 tensor"
killed_by = "dtypes"
explanation = """
A tensor made with torch.zeros has the default dtype. Copying float64, bfloat16 or integers into \
it converts them."""
hint = "Print the dtype of the result for float64 input."
'''

import torch


def split_heads(x, num_heads):
    if x.ndim != 3:
        raise ValueError("x is not (B, L, E)")
    batch, length, width = x.shape
    if num_heads < 1 or width % num_heads:
        raise ValueError("the heads do not divide the width")
    x = x.reshape(batch, length, num_heads, width // num_heads)
    heads = torch.zeros(batch, num_heads, length, width // num_heads)
    return heads.copy_(x.transpose(1, 2))


def merge_heads(x):
    if x.ndim != 4:
        raise ValueError("x is not (B, H, L, D)")
    batch, num_heads, length, head_dim = x.shape
    x = x.transpose(1, 2)
    return x.reshape(batch, length, num_heads * head_dim)
