# expect: rejected
# problem: relative-bias
# mistake: clamp(rel, 0, m) + m
# diagnosis: one-side-like-itself

import torch
import torch.nn as nn

class RelativeAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, max_distance):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.num_heads, self.head_dim, self.m = num_heads, embed_dim // num_heads, max_distance
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.rel_bias = nn.Embedding(2 * max_distance + 1, num_heads)

    def forward(self, x):
        B, L, E = x.shape
        q, k, v = [f(x).view(B, L, self.num_heads, self.head_dim).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj)]
        pos = torch.arange(L, device=x.device)
        rel = (pos[None, :] - pos[:, None]).clamp(0, self.m) + self.m
        bias = self.rel_bias(rel).permute(2, 0, 1)
        s = q @ k.transpose(-1, -2) * self.head_dim ** -0.5 + bias
        return self.out_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, L, E))
