# expect: rejected
# problem: sparse-attention
# mistake: the fused kernel
# diagnosis: fused-attention
import torch
import torch.nn.functional as F


def sparse_mask(length, window, stride, num_global):
    i = torch.arange(length)[:, None]
    j = torch.arange(length)[None, :]
    return ((i - j).abs() <= window) | ((i - j) % stride == 0) | (i < num_global) | (j < num_global)


def sparse_attention(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
