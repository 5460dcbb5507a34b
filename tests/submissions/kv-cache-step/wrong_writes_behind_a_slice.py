# expect: rejected
# problem: kv-cache-step
# mistake: under no_grad a cache that is a slice of a longer one is extended in place, into the longer one
import math

import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def _split(self, x):
        return x.view(x.size(0), x.size(1), self.num_heads, self.head_dim).transpose(1, 2)

    @staticmethod
    def _extend(old, new):
        batch, heads, past, dim = old.shape
        total = past + new.size(2)
        a, b, c, d = old.stride()
        reach = old.storage_offset() + (batch - 1) * a + (heads - 1) * b + total * dim
        room = (
            old.shape[:2] == new.shape[:2]
            and (c, d) == (dim, 1)
            and b >= total * dim
            and (batch == 1 or a >= heads * b)
            and reach <= old.untyped_storage().nbytes() // old.element_size()
            and not (old.requires_grad or new.requires_grad)
            and old.dtype == new.dtype
            and old.is_inference() <= torch.is_inference_mode_enabled()
        )
        if not room:
            return torch.cat((old, new), dim=2)
        longer = old.as_strided((batch, heads, total, dim), (a, b, c, d))
        longer[:, :, past:] = new
        return longer

    def forward(self, x, cache=None):
        q, k, v = (self._split(m(x)) for m in (self.q_proj, self.k_proj, self.v_proj))
        k, v = k.contiguous(), v.contiguous()
        if cache is not None:
            k, v = self._extend(cache[0], k), self._extend(cache[1], v)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        here = torch.arange(k.size(2) - q.size(2), k.size(2), device=x.device)
        later = torch.arange(k.size(2), device=x.device) > here[:, None]
        scores = scores.masked_fill(later, torch.finfo(scores.dtype).min)
        out = torch.softmax(scores, dim=-1) @ v
        return self.out_proj(out.transpose(1, 2).reshape(x.shape)), (k, v)
