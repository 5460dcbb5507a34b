# expect: rejected
# problem: kv-cache-step
# mistake: the new values come before the cached ones
# diagnosis: new-values-before-old

import torch, math
import torch.nn as nn
import torch.nn.functional as F

class CachedSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.H, self.D = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.o_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        B, L, _ = x.shape
        sp = lambda t: t.view(B, L, self.H, self.D).transpose(1, 2)
        q, k, v = sp(self.q_proj(x)), sp(self.k_proj(x)), sp(self.v_proj(x))
        if cache is not None:
            k = torch.cat([cache[0], k], dim=2)
            v = torch.cat([v, cache[1]], dim=2)
        S = k.size(2)
        att = q @ k.transpose(-2, -1) / math.sqrt(self.D)
        causal = torch.tril(torch.ones(L, S, dtype=torch.bool, device=x.device), diagonal=S - L)
        att = att.masked_fill(~causal, float('-inf'))
        y = F.softmax(att, -1) @ v
        return self.o_proj(y.transpose(1, 2).reshape(B, L, -1)), (k, v)
