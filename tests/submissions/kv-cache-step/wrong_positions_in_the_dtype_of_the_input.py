# expect: rejected
# problem: kv-cache-step
# mistake: positions counted in bfloat16, which knows no odd number beyond 256
import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("the heads do not divide the width")
        self.h, self.d = num_heads, embed_dim // num_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(embed_dim, embed_dim) for _ in range(4)
        )

    def forward(self, x, cache=None):
        q, k, v = (
            one(x).unflatten(-1, (self.h, self.d)).transpose(1, 2)
            for one in (self.q_proj, self.k_proj, self.v_proj)
        )
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        position = torch.arange(k.shape[2], device=x.device).to(x.dtype)
        future = position > position[-q.shape[2] :, None]
        scores = (q @ k.mT / self.d**0.5).masked_fill(future, float("-inf"))
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
        return self.out_proj(mixed), (k, v)
