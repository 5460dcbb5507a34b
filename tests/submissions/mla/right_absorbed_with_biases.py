# expect: accepted
# problem: mla
import torch
import torch.nn as nn
from einops import einsum, rearrange


class LatentAttention(nn.Module):
    def __init__(self, heads, dim, latent):
        super().__init__()
        if dim % heads != 0:
            raise ValueError(f"{dim} is no multiple of {heads}")
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.to_q = nn.Linear(dim, dim)
        self.to_latent = nn.Linear(dim, latent)
        self.latent_to_k = nn.Linear(latent, dim)
        self.latent_to_v = nn.Linear(latent, dim)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x, latent_cache=None):
        c = self.to_latent(x)
        if latent_cache is not None:
            c = torch.cat((latent_cache, c), dim=-2)
        w_uk = rearrange(self.latent_to_k.weight, "(h d) c -> h d c", h=self.heads)
        w_uv = rearrange(self.latent_to_v.weight, "(h d) c -> h d c", h=self.heads)
        b_uv = rearrange(self.latent_to_v.bias, "(h d) -> h d", h=self.heads)

        q = rearrange(self.to_q(x), "b i (h d) -> b h i d", h=self.heads) * self.scale
        # the keys' bias adds one constant to a row of scores: softmax does not see it
        q = einsum(q, w_uk, "b h i d, h d c -> b h i c")
        sim = einsum(q, c, "b h i c, b j c -> b h i j")
        i, j = sim.shape[-2:]
        causal = torch.ones((i, j), dtype=torch.bool, device=x.device).triu(j - i + 1)
        attn = sim.masked_fill(causal, -torch.finfo(sim.dtype).max).softmax(dim=-1)

        mixed = einsum(attn, c, "b h i j, b j c -> b h i c")
        out = einsum(mixed, w_uv, "b h i c, h d c -> b i h d") + b_uv
        return self.to_out(rearrange(out, "b i h d -> b i (h d)")), c
