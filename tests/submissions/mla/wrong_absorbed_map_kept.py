# expect: rejected
# problem: mla
# mistake: the absorbed map is computed once and kept when the weights change
import torch, torch.nn as nn
class MultiHeadLatentAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, latent_dim):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.h = num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim); self.down_proj = nn.Linear(embed_dim, latent_dim)
        self.k_up = nn.Linear(latent_dim, embed_dim, bias=False); self.v_up = nn.Linear(latent_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self._w = None
    def forward(self, x, cache=None):
        B, L, E = x.shape
        D = E // self.h
        c = self.down_proj(x)
        if cache is not None: c = torch.cat((cache, c), 1)
        T = c.shape[1]
        if cache is None:
            w = self.k_up.weight.view(self.h, D, -1)
        else:
            if self._w is None: self._w = self.k_up.weight.detach().clone().view(self.h, D, -1)
            w = self._w
        q = torch.einsum("blhd,hdc->bhlc", self.q_proj(x).view(B, L, self.h, D), w)
        v = self.v_up(c).view(B, T, self.h, D).transpose(1, 2)
        s = torch.einsum("bhlc,btc->bhlt", q, c) / D ** 0.5
        s = s.masked_fill(torch.ones(L, T, dtype=torch.bool).triu(T - L + 1), float("-inf"))
        return self.out_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, L, E)), c
