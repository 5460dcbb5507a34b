# expect: accepted
# problem: kv-cache-step
# Cached keys need no mask and new keys need the triangle: two parts under one softmax.
import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("embed_dim % num_heads")
        self.shape = (num_heads, embed_dim // num_heads)
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.o_proj = nn.Linear(embed_dim, embed_dim, bias=False)

    @staticmethod
    def _part(q, k, v, triangle):
        s = q @ k.transpose(-1, -2)
        if triangle:
            n = s.shape[-1]
            i = torch.arange(n, device=s.device)
            s = s.masked_fill(i[None, :] > i[:, None], torch.finfo(s.dtype).min)
        top = s.detach().amax(-1, keepdim=True)
        e = torch.exp(s - top)
        return top, e.sum(-1, keepdim=True), e @ v

    def forward(self, x, cache=None):
        q, k, v = (
            layer(x).unflatten(-1, self.shape).movedim(2, 1)
            for layer in (self.q_proj, self.k_proj, self.v_proj)
        )
        wide = torch.promote_types(x.dtype, torch.float32)
        scaled = q.to(wide) * self.shape[1] ** -0.5
        top, total, mixed = self._part(scaled, k.to(wide), v.to(wide), True)
        keys, values = k.contiguous(), v.contiguous()
        if cache is not None:
            keys, values = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
            past = cache[0].shape[2]
            old_k, old_v = keys[:, :, :past].to(wide), values[:, :, :past].to(wide)
            old_top, old_total, old_mixed = self._part(scaled, old_k, old_v, False)
            both = torch.maximum(top, old_top)
            a, b = torch.exp(top - both), torch.exp(old_top - both)
            total, mixed = a * total + b * old_total, a * mixed + b * old_mixed
        output = (mixed / total).to(x.dtype).movedim(1, 2).flatten(2)
        return self.o_proj(output), (keys, values)
