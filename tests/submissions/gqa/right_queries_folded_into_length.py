# expect: accepted
# problem: gqa
import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    """The query heads of one group are stacked along the length: one matmul per group."""

    def __init__(self, embed_dim, num_heads, num_kv_heads, bias=True):
        super().__init__()
        assert embed_dim % num_heads == 0 and num_heads % num_kv_heads == 0
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = embed_dim // num_heads
        kv_dim = num_kv_heads * self.head_dim
        self.query = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.key = nn.Linear(embed_dim, kv_dim, bias=bias)
        self.value = nn.Linear(embed_dim, kv_dim, bias=bias)
        self.proj = nn.Linear(embed_dim, embed_dim, bias=bias)

    def forward(self, x, mask=None):
        B, L, E = x.shape
        H, G, D = self.num_heads, self.num_kv_heads, self.head_dim
        q = self.query(x).view(B, L, H, D).transpose(1, 2).reshape(B, G, H // G * L, D)
        k = self.key(x).view(B, L, G, D).transpose(1, 2)
        v = self.value(x).view(B, L, G, D).transpose(1, 2)
        s = torch.matmul(q, k.transpose(-1, -2)).mul(D**-0.5).view(B, H, L, L)
        if mask is not None:
            s = s.masked_fill(mask == 0, float("-inf"))
        w = s.softmax(dim=-1)
        o = torch.matmul(w.view(B, G, -1, L), v).view(B, H, L, D)
        return self.proj(o.transpose(1, 2).reshape(B, L, E)), w
