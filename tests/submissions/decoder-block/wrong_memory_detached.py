# expect: rejected
# problem: decoder-block
# mistake: no gradient for the encoder
# diagnosis: memory-detached
import torch
from einops import rearrange
from torch import nn


class DecoderBlock(nn.Module):
    def __init__(self, dim, heads, mlp_dim, max_len=512):
        super().__init__()
        if dim % heads:
            raise ValueError("dim must be a multiple of heads")
        self.heads = heads
        self.ln1, self.ln2, self.ln3 = (nn.LayerNorm(dim) for _ in range(3))
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.proj = nn.Linear(dim, dim)
        self.q = nn.Linear(dim, dim, bias=False)
        self.kv = nn.Linear(dim, 2 * dim, bias=False)
        self.proj2 = nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, mlp_dim), nn.ReLU(inplace=True), nn.Linear(mlp_dim, dim))
        self.register_buffer("future", torch.ones(max_len, max_len).triu(1).bool(), persistent=False)

    def attend(self, q, k, v, blocked):
        q, k, v = (rearrange(t, "b n (h d) -> b h n d", h=self.heads) for t in (q, k, v))
        sim = torch.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
        if blocked is not None:
            sim = sim.masked_fill(blocked, -torch.finfo(sim.dtype).max)
        return rearrange(sim.softmax(-1) @ v, "b h n d -> b n (h d)")

    def forward(self, x, context, context_mask=None):
        n = x.shape[1]
        x = self.ln1(x + self.proj(self.attend(*self.qkv(x).chunk(3, -1), self.future[:n, :n])))
        blocked = None if context_mask is None else ~context_mask.bool()
        x = self.ln2(x + self.proj2(self.attend(self.q(x), *self.kv(context.detach()).chunk(2, -1), blocked)))
        return self.ln3(x + self.mlp(x))
