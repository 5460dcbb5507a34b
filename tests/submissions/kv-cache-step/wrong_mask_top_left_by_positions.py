# expect: rejected
# problem: kv-cache-step
# mistake: query positions do not count the cache
# diagnosis: mask-top-left
import torch
from einops import rearrange
from torch import nn


class KVCacheAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        if dim % heads:
            raise ValueError("dim must be divisible by heads")
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.to_qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x, cache=None):
        # 一次投影得到 q, k, v
        q, k, v = rearrange(self.to_qkv(x), "b n (c h d) -> c b h n d", c=3, h=self.heads)
        if cache is not None:
            k = torch.cat((cache[0], k), dim=2)
            v = torch.cat((cache[1], v), dim=2)
        i = torch.arange(q.shape[2], device=x.device)[:, None]
        j = torch.arange(k.shape[2], device=x.device)[None, :]
        sim = torch.einsum("bhid,bhjd->bhij", q, k) * self.scale
        sim = sim.masked_fill(j > i, -1e9)
        out = torch.einsum("bhij,bhjd->bhid", sim.softmax(-1), v)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)")), (k, v)
