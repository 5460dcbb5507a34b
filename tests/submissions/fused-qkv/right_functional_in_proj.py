# expect: accepted
# problem: fused-qkv
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class MultiheadSelfAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.head_dim = embed_dim // num_heads
        assert self.head_dim * num_heads == embed_dim, "embed_dim must be divisible by num_heads"
        self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim)) if bias else None
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        nn.init.xavier_uniform_(self.in_proj_weight)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        bsz, length, _ = x.shape
        # length first, heads in the batch, as the library does it
        q, k, v = F.linear(x.transpose(0, 1), self.in_proj_weight, self.in_proj_bias).chunk(3, -1)
        q, k, v = (
            t.reshape(length, bsz * self.num_heads, self.head_dim).transpose(0, 1)
            for t in (q, k, v)
        )
        attn = torch.bmm(q / math.sqrt(self.head_dim), k.transpose(1, 2))
        if mask is not None:
            keep = mask.bool().expand(bsz, self.num_heads, length, length)
            attn = attn.masked_fill(~keep.reshape(attn.shape), float("-inf"))
        attn = attn.softmax(dim=-1)
        out = torch.bmm(attn, v).transpose(0, 1).reshape(length, bsz, self.embed_dim)
        return self.out_proj(out).transpose(0, 1), attn.view(bsz, self.num_heads, length, length)
