# expect: rejected
# problem: linformer
# mistake: mean over stretches instead of the maps
# diagnosis: pooled-in-segments
import torch
from einops import rearrange
from torch import einsum, nn


class LinformerSelfAttention(nn.Module):
    def __init__(self, dim, heads, max_len, rank):
        super().__init__()
        assert dim % heads == 0
        self.h, self.max_len = heads, max_len
        self.scale = (dim // heads) ** -0.5
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_kv = nn.Linear(dim, 2 * dim, bias=False)
        self.proj_k = nn.Parameter(torch.randn(max_len, rank) * max_len**-0.5)
        self.proj_v = nn.Parameter(torch.randn(max_len, rank) * max_len**-0.5)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x):
        q, (k, v) = self.to_q(x), self.to_kv(x).chunk(2, dim=-1)
        rank = self.proj_k.shape[1]
        k, v = (nn.functional.adaptive_avg_pool1d(t.mT, rank).mT for t in (k, v))
        q, k, v = (rearrange(t, "b n (h d) -> b h n d", h=self.h) for t in (q, k, v))
        sim = einsum("b h n d, b h k d -> b h n k", q, k) * self.scale
        out = einsum("b h n k, b h k d -> b h n d", sim.softmax(dim=-1), v)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)"))
