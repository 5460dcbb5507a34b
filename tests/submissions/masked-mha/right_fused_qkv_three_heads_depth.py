# expect: accepted
# problem: masked-mha
import torch
from torch import nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    """One weight for the three maps, stacked as q, k, v."""

    def __init__(self, embed_dim, num_heads, bias=True):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.in_proj = nn.Linear(embed_dim, 3 * embed_dim, bias=bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)

    def forward(self, q, k, v, mask=None):
        ws = self.in_proj.weight.chunk(3)
        bs = self.in_proj.bias.chunk(3) if self.in_proj.bias is not None else (None,) * 3
        q, k, v = (
            F.linear(x, w, b).unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)
            for x, w, b in zip((q, k, v), ws, bs)
        )
        scores = q @ k.transpose(-1, -2) / self.head_dim**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).flatten(-2)), weights
