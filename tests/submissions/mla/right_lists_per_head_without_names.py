# expect: accepted
# problem: mla
# Two lists of one map per head that are called c and e.
import torch
from torch import nn


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, latent_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError
        d = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.kv_down = nn.Linear(embed_dim, latent_dim)
        self.c = nn.ModuleList(nn.Linear(latent_dim, d) for _ in range(num_heads))
        self.e = nn.ModuleList(nn.Linear(latent_dim, d) for _ in range(num_heads))
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.d = d

    def forward(self, x, cache=None):
        lat = self.kv_down(x)
        if cache is not None:
            lat = torch.cat((cache, lat), 1)
        L, S = x.shape[1], lat.shape[1]
        later = torch.arange(S, device=x.device) > torch.arange(S - L, S, device=x.device)[:, None]
        heads = []
        for q, ku, vu in zip(self.q_proj(x).split(self.d, -1), self.c, self.e):
            s = torch.bmm(q, ku(lat).transpose(1, 2)).div(self.d ** 0.5).masked_fill(later, -1e9)
            heads.append(torch.bmm(s.softmax(-1), vu(lat)))
        return [self.out_proj(torch.cat(heads, -1)), lat]
