# expect: accepted
# problem: linformer
import torch
from einops import rearrange
from torch import einsum, nn


class MultiHeadLinearAttention(nn.Module):
    """Compresses after the heads are cut: the same length map for every head."""

    def __init__(self, heads, dim, seq_len, proj_dim):
        super().__init__()
        assert dim % heads == 0
        self.h, self.n = heads, seq_len
        self.scale = (dim // heads) ** -0.5
        self.qkv = nn.Linear(dim, 3 * dim)
        self.compress_k = nn.Parameter(torch.randn(proj_dim, seq_len) * seq_len**-0.5)
        self.compress_v = nn.Parameter(torch.randn(proj_dim, seq_len) * seq_len**-0.5)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        q, k, v = rearrange(self.qkv(x), "b n (p h d) -> p b h n d", p=3, h=self.h)
        k = einsum("k n, b h n d -> b h k d", self.compress_k, k)
        v = einsum("k n, b h n d -> b h k d", self.compress_v, v)
        sim = einsum("b h n d, b h k d -> b h n k", q * self.scale, k)
        sim = sim - sim.amax(dim=-1, keepdim=True).detach()
        attn = sim.exp()
        attn = attn / attn.sum(dim=-1, keepdim=True)
        out = einsum("b h n k, b h k d -> b h n d", attn, v)
        return self.proj(rearrange(out, "b h n d -> b n (h d)")), attn
