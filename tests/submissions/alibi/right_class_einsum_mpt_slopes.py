# expect: accepted
# problem: alibi
import numpy as np
import torch
import torch.nn as nn
from einops import einsum, rearrange


def build_alibi_slopes(n_heads: int, alibi_bias_max: int = 8) -> np.ndarray:
    _n_heads = 1 << (n_heads - 1).bit_length()
    m = np.arange(1, _n_heads + 1) * alibi_bias_max / _n_heads
    slopes = 1.0 / np.power(2.0, m)
    if _n_heads != n_heads:
        slopes = np.concatenate([slopes[1::2], slopes[::2]])[:n_heads]
    return slopes


class ALiBiAttention(nn.Module):
    def forward(self, q, k, v, slopes, causal=True):
        if q.shape[2] > k.shape[2]:
            raise ValueError("more queries than keys")
        scores = einsum(q, k, "b h i d, b h j d -> b h i j") * q.shape[-1] ** -0.5
        offset = k.shape[2] - q.shape[2]
        i = torch.arange(q.shape[2], device=q.device) + offset
        j = torch.arange(k.shape[2], device=q.device)
        gap = rearrange(j, "j -> 1 j") - rearrange(i, "i -> i 1")
        scores = scores - einsum(slopes, gap.abs().to(slopes.dtype), "h, i j -> h i j")
        if causal:
            scores = scores.masked_fill(gap > 0, float("-inf"))
        return einsum(scores.softmax(dim=-1), v, "b h i j, b h j d -> b h i d")
