# expect: rejected
# problem: linformer
# mistake: no division by sqrt(D)
# diagnosis: no-scale
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
        k = einsum("b n d, n k -> b k d", k, self.proj_k)
        v = einsum("b n d, n k -> b k d", v, self.proj_v)
        q, k, v = (rearrange(t, "b n (h d) -> b h n d", h=self.h) for t in (q, k, v))
        sim = einsum("b h n d, b h k d -> b h n k", q, k)
        out = einsum("b h n k, b h k d -> b h n d", sim.softmax(dim=-1), v)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)"))
