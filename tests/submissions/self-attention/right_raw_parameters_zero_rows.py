# expect: accepted
# problem: self-attention
import math

import torch
from torch import nn


def glorot(n):
    return nn.Parameter(torch.randn(n, n) / math.sqrt(n))


class SelfAttention(nn.Module):
    """Plain matrices used as x @ W; softmax and dropout by hand; blocked rows become zero."""

    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, causal=False):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim=} {num_heads=}")
        self.h, self.p, self.causal = num_heads, dropout, causal
        self.W_q, self.W_k, self.W_v, self.W_o = (glorot(embed_dim) for _ in range(4))
        if bias:
            self.b_q, self.b_k, self.b_v, self.b_o = (
                nn.Parameter(torch.zeros(embed_dim)) for _ in range(4)
            )
        else:
            self.b_q = self.b_k = self.b_v = self.b_o = 0.0

    def heads(self, t):
        return torch.stack(t.chunk(self.h, dim=-1), dim=1)

    def forward(self, x, key_padding_mask=None, attn_mask=None, need_weights=False):
        n = x.shape[1]
        q = self.heads(x @ self.W_q + self.b_q)
        k = self.heads(x @ self.W_k + self.b_k)
        v = self.heads(x @ self.W_v + self.b_v)
        s = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(q.shape[-1])

        hidden = torch.zeros(n, n, dtype=torch.bool, device=x.device)
        if self.causal:
            hidden = torch.arange(n)[None, :] > torch.arange(n)[:, None]
        if key_padding_mask is not None:
            hidden = hidden | key_padding_mask[:, None, None]
        if attn_mask is not None:
            if attn_mask.dtype == torch.bool:
                hidden = hidden | attn_mask
            else:
                s = s + attn_mask
        s = torch.where(hidden, torch.full_like(s, -math.inf), s)

        top = s.amax(-1, keepdim=True).clamp(min=torch.finfo(s.dtype).min)
        e = torch.exp(s - top)
        a = e / e.sum(-1, keepdim=True).clamp(min=torch.finfo(s.dtype).tiny)
        kept = a
        if self.training and self.p > 0:
            kept = a * (torch.rand_like(a) >= self.p) / (1 - self.p)
        y = torch.cat(list(torch.einsum("bhij,bhjd->hbid", kept, v)), dim=-1)
        return y @ self.W_o + self.b_o, a if need_weights else None
