# expect: rejected
# problem: kv-cache-step
# mistake: transposed keys are kept for the cache that is returned, and serve when the caller has edited it
import math

import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self._latest = None  # (keys as returned, the same keys laid out for the product)

    def _split(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, x, cache=None):
        if x.shape[-1] != self.embed_dim:
            raise ValueError("input must be embed_dim wide")
        batch, new, _ = x.shape
        q, k, v = self._split(self.q_proj(x)), self._split(self.k_proj(x)), self._split(self.v_proj(x))
        k_t = k.transpose(-2, -1)  # (B, H, D, L)
        past = 0
        if cache is not None:
            past_k, past_v = cache
            past = past_k.shape[2]
            latest = self._latest
            if latest is not None and latest[0] is past_k and not torch.is_grad_enabled():
                past_t = latest[1]  # already transposed, save the copy
            else:
                past_t = past_k.transpose(-2, -1)
            k_t = torch.cat((past_t, k_t), dim=-1)
            k = torch.cat((past_k, k), dim=2)
            v = torch.cat((past_v, v), dim=2)
        scores = torch.matmul(q / math.sqrt(self.head_dim), k_t)
        if new > 1:
            later = torch.ones(new, past + new, dtype=torch.bool, device=x.device).triu(past + 1)
            scores = scores.masked_fill(later, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        out = torch.matmul(weights, v).transpose(1, 2).reshape(batch, new, self.embed_dim)
        k, v = k.contiguous(), v.contiguous()
        if not torch.is_grad_enabled():
            self._latest = (k, k.transpose(-2, -1).clone(memory_format=torch.contiguous_format))
        else:
            self._latest = None
        return self.out_proj(out), (k, v)
