# expect: rejected
# problem: kv-cache-step
# mistake: a cache from inference mode cannot be written behind under no_grad
import math

import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    """Causal self-attention. Without gradients a cache is the front part of a longer buffer, so that
    a step copies nothing; a buffer whose next place is taken (another continuation) is copied."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def _split(self, t):
        return t.unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)

    @staticmethod
    def _extend(past, new):
        if torch.is_grad_enabled():
            return new if past is None else torch.cat((past, new), dim=2)
        length = 0 if past is None else past.shape[2]
        total = length + new.shape[2]
        room = getattr(past, "room", None)  # {"buffer": tensor, "used": positions}
        if room is None or room["used"] != length or room["buffer"].shape[2] < total:
            batch, heads, _, width = new.shape
            room = {"buffer": new.new_empty(batch, heads, total + max(16, total // 2), width), "used": 0}
            if past is not None:
                if past.shape[:2] != new.shape[:2] or past.shape[3] != width:
                    raise ValueError("the cache does not fit x")
                room["buffer"][:, :, :length] = past
        elif past.shape[0] != new.shape[0]:
            raise ValueError("the cache does not fit x")
        room["buffer"][:, :, length:total] = new
        room["used"] = total
        extended = room["buffer"][:, :, :total]
        extended.room = room
        return extended

    def forward(self, x, cache=None):
        if x.dim() != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError("x must be (B, L, E)")
        past_k, past_v = (None, None) if cache is None else cache
        q = self._split(self.q_proj(x))
        k = self._extend(past_k, self._split(self.k_proj(x)))
        v = self._extend(past_v, self._split(self.v_proj(x)))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        L, S = scores.shape[-2:]
        future = torch.ones(L, S, dtype=torch.bool, device=x.device).triu(S - L + 1)
        weights = torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).flatten(2)), (k, v)
