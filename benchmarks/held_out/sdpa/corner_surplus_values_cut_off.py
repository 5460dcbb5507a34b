# problem: sdpa
# wrong: k and v of different length must raise; here v is silently cut to the length of k when it is longer
# needs: errors
import torch
from torch import einsum

def scaled_dot_product_attention(q, k, v, mask=None):
    n = k.shape[-2]
    v = v[..., :n, :]
    dots = einsum('... i d, ... j d -> ... i j', q, k) * (q.shape[-1] ** -0.5)
    if mask is not None:
        dots = dots.masked_fill(~mask.bool(), -torch.finfo(dots.dtype).max)
    attn = dots.softmax(dim=-1)
    out = einsum('... i j, ... j d -> ... i d', attn, v)
    return out, attn
