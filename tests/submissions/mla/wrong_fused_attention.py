# expect: rejected
# problem: mla
# mistake: calls the fused kernel
# diagnosis: fused-attention
import torch
from einops import rearrange
from torch import einsum, nn


class MLA(nn.Module):
    def __init__(self, dim, heads, kv_rank):
        super().__init__()
        assert dim % heads == 0
        self.h = heads
        self.scale = (dim // heads) ** -0.5
        self.to_q = nn.Linear(dim, dim)
        self.compress = nn.Linear(dim, kv_rank)
        self.expand_k = nn.Linear(kv_rank, dim)
        self.expand_v = nn.Linear(kv_rank, dim)
        self.to_out = nn.Linear(dim, dim)

    def heads(self, t):
        return rearrange(t, "b n (h d) -> b h n d", h=self.h)

    def forward(self, x, cache=None):
        z = self.compress(x)
        if cache is not None:
            z = torch.cat((cache, z), dim=1)
        q, k, v = (
            self.heads(self.to_q(x)),
            self.heads(self.expand_k(z)),
            self.heads(self.expand_v(z)),
        )
        i, j = q.shape[2], k.shape[2]
        keep = torch.ones(i, j, device=x.device).tril(j - i).bool()
        out = nn.functional.scaled_dot_product_attention(q, k, v, keep)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)")), z
