# expect: accepted
# problem: linear-attention
import torch
import torch.nn.functional as F
from einops import einsum


def feature_map(x):
    return F.elu(x) + 1


def linear_attn(q, k, v, causal=False, eps=1e-6):
    q, k = feature_map(q), feature_map(k)
    if not causal:
        context = einsum(k, v, "b h n d, b h n e -> b h d e")
        norm = 1 / (einsum(q, k.sum(dim=-2), "b h n d, b h d -> b h n") + eps)
        return einsum(q, context, norm, "b h n d, b h d e, b h n -> b h n e")
    k_cum = k.cumsum(dim=-2)
    norm = 1 / (einsum(q, k_cum, "b h n d, b h n d -> b h n") + eps)
    context = einsum(k, v, "b h n d, b h n e -> b h n d e").cumsum(dim=-3)
    return einsum(q, context, norm, "b h n d, b h n d e, b h n -> b h n e")
