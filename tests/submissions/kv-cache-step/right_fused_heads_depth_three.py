# expect: accepted
# problem: kv-cache-step
import torch
import torch.nn as nn


class KVCacheAttention(nn.Module):
    """Features of the fused map as (heads, depth, 3)."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        self.h = n_heads
        self.d = d_model // n_heads
        self.qkv = nn.Linear(d_model, d_model * 3)
        self.proj = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        b, n, e = x.shape
        qkv = self.qkv(x).reshape(b, n, self.h, self.d, 3).transpose(1, 2)
        q, k, v = qkv[..., 0], qkv[..., 1], qkv[..., 2]
        if cache is not None:
            k, v = (torch.cat([old, new], 2) for old, new in zip(cache, (k, v)))
        s = torch.einsum("bhid,bhjd->bhij", q, k) / self.d**0.5
        t = k.size(2)
        keep = torch.ones(n, t, device=x.device).tril(diagonal=t - n)
        s = s.masked_fill(keep == 0, -1e9)
        y = torch.einsum("bhij,bhjd->bihd", s.softmax(-1), v)
        return self.proj(y.reshape(b, n, e)), (k, v)
