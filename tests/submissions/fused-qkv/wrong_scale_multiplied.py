# expect: rejected
# problem: fused-qkv
# mistake: the scores are multiplied by √D
# diagnosis: scale-multiplied
import torch
from torch import nn


class FusedSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.head_dim, rest = divmod(embed_dim, num_heads)
        if rest:
            raise ValueError("embed_dim is no multiple of num_heads")
        self.num_heads = num_heads
        self.scale = self.head_dim**0.5
        self.W_qkv = nn.Parameter(torch.randn(embed_dim, 3 * embed_dim) / embed_dim**0.5)
        self.W_o = nn.Parameter(torch.randn(embed_dim, embed_dim) / embed_dim**0.5)

    def forward(self, x, mask=None):
        qkv = x @ self.W_qkv
        qkv = qkv.unflatten(-1, (3, self.num_heads, self.head_dim))
        q, k, v = qkv.unbind(dim=2)  # (B, L, H, D)
        dots = torch.einsum("bihd,bjhd->bhij", q, k) * self.scale
        if mask is not None:
            dots = dots.masked_fill(~mask.bool(), torch.finfo(dots.dtype).min)
        attn = dots.softmax(dim=-1)
        out = torch.einsum("bhij,bjhd->bihd", attn, v).flatten(2)
        return out @ self.W_o
