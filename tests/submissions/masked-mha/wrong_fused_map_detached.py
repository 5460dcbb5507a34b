# expect: rejected
# problem: masked-mha
# mistake: the fused map is detached, so that it never learns
# diagnosis: parameters-detached
import torch
from torch import nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.in_proj = nn.Linear(embed_dim, 3 * embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, q, k, v, mask=None):
        if k.shape[1] != v.shape[1]:
            raise ValueError
        ws = self.in_proj.weight.detach().chunk(3)
        bs = self.in_proj.bias.detach().chunk(3)
        q, k, v = (F.linear(x, w, b) for x, w, b in zip((q, k, v), ws, bs))
        q, k, v = (
            x.unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2) for x in (q, k, v)
        )
        s = q @ k.transpose(-1, -2) / self.head_dim**0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, float("-inf"))
        o = (s.softmax(-1) @ v).transpose(1, 2).flatten(-2)
        return self.out_proj(o)
