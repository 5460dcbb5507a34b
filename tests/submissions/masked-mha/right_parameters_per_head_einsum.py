# expect: accepted
# problem: masked-mha
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """All maps as (E, H, D) tensors, in the mesh style."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        d = embed_dim // num_heads
        self.num_heads, self.head_dim = num_heads, d
        self.w_q = nn.Parameter(torch.randn(embed_dim, num_heads * d) / embed_dim**0.5)
        self.w_k = nn.Parameter(torch.randn(embed_dim, num_heads * d) / embed_dim**0.5)
        self.w_v = nn.Parameter(torch.randn(embed_dim, num_heads * d) / embed_dim**0.5)
        self.w_o = nn.Parameter(torch.randn(num_heads * d, embed_dim) / embed_dim**0.5)

    def forward(self, q, k, v, mask=None):
        h, d = self.num_heads, self.head_dim
        q = torch.einsum("ble,ehd->bhld", q, self.w_q.reshape(-1, h, d))
        k = torch.einsum("bse,ehd->bhsd", k, self.w_k.reshape(-1, h, d))
        v = torch.einsum("bse,ehd->bhsd", v, self.w_v.reshape(-1, h, d))
        logits = torch.einsum("bhld,bhsd->bhls", q, k) / d**0.5
        if mask is not None:
            logits = torch.where(mask.bool(), logits, torch.finfo(logits.dtype).min)
        weights = torch.softmax(logits, dim=-1)
        o = torch.einsum("bhls,bhsd->bhld", weights, v)
        return torch.einsum("bhld,hde->ble", o, self.w_o.reshape(h, d, -1)), weights
