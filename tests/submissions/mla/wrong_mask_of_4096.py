# expect: rejected
# problem: mla
# mistake: a mask for 4096 positions; there is no limit
import torch, torch.nn as nn
class MultiHeadLatentAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, latent_dim):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.h = num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim); self.down_proj = nn.Linear(embed_dim, latent_dim)
        self.k_up = nn.Linear(latent_dim, embed_dim); self.v_up = nn.Linear(latent_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.register_buffer("mask", torch.ones(4096, 4096, dtype=torch.bool).tril())
    def forward(self, x, cache=None):
        B, L, E = x.shape
        c = self.down_proj(x)
        if cache is not None: c = torch.cat((cache, c), 1)
        T = c.shape[1]
        sp = lambda t: t.view(B, -1, self.h, E // self.h).transpose(1, 2)
        q, k, v = sp(self.q_proj(x)), sp(self.k_up(c)), sp(self.v_up(c))
        s = q @ k.mT / (E // self.h) ** 0.5
        s = s.masked_fill(~self.mask[T - L:T, :T], float("-inf"))
        return self.out_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, L, E)), c
