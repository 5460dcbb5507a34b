# expect: accepted
# problem: kv-cache-step
import torch
from torch import einsum, nn


class CachedSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, max_len=64):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.h = num_heads
        self.scale = (embed_dim // num_heads) ** -0.5
        self.query = nn.Linear(embed_dim, embed_dim)
        self.key = nn.Linear(embed_dim, embed_dim)
        self.value = nn.Linear(embed_dim, embed_dim)
        self.out = nn.Linear(embed_dim, embed_dim)
        self.register_buffer("triangle", torch.ones(max_len, max_len).tril().bool(), persistent=False)

    def _keep(self, t, n):
        if t + n > self.triangle.shape[0]:
            return torch.ones(n, t + n, dtype=torch.bool, device=self.triangle.device).tril(t)
        return self.triangle[t : t + n, : t + n]

    def forward(self, x, cache=None, use_cache=True):
        q, k, v = (m(x).unflatten(-1, (self.h, -1)).permute(0, 2, 1, 3) for m in (self.query, self.key, self.value))
        past = 0
        if cache is not None:
            past = cache[0].size(-2)
            k, v = (torch.cat(pair, dim=-2) for pair in zip(cache, (k, v)))
        s = einsum("bhid,bhjd->bhij", q * self.scale, k)
        s = s.where(self._keep(past, x.size(1)), torch.finfo(s.dtype).min)
        s = s - s.detach().amax(-1, keepdim=True)
        p = s.exp()
        p = p / p.sum(-1, keepdim=True)
        y = einsum("bhij,bhjd->bihd", p, v)
        # the cache is for generating: no graph is kept alive by it
        return self.out(y.flatten(2)), (k.detach(), v.detach())
