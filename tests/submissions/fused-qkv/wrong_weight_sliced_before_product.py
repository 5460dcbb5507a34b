# expect: rejected
# problem: fused-qkv
# mistake: the weight is sliced, and x multiplied with each slice
# diagnosis: three-products
import torch
import torch.nn.functional as F
from torch import nn


class MultiheadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.num_heads = num_heads
        self.in_proj_weight = nn.Parameter(torch.randn(3 * embed_dim, embed_dim) / embed_dim**0.5)
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim))
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        w_q, w_k, w_v = self.in_proj_weight.chunk(3)
        b_q, b_k, b_v = self.in_proj_bias.chunk(3)
        q, k, v = F.linear(x, w_q, b_q), F.linear(x, w_k, b_k), F.linear(x, w_v, b_v)
        q, k, v = (t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for t in (q, k, v))
        s = torch.einsum("bhid,bhjd->bhij", q, k) / q.shape[-1] ** 0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        return self.out_proj(torch.einsum("bhij,bhjd->bihd", s.softmax(-1), v).flatten(2))
