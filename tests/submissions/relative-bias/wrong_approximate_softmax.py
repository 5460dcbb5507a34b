# expect: rejected
# problem: relative-bias
# mistake: far keys with small weights are dropped
# diagnosis: small-weights-dropped
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class RelativeAttention(nn.Module):
    def __init__(self, d_model, n_heads, max_dist):
        super().__init__()
        assert d_model % n_heads == 0
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.max_dist = max_dist
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.relative_position_bias_table = nn.Parameter(torch.zeros(2 * max_dist + 1, n_heads))

    def split(self, t):
        return t.view(t.size(0), t.size(1), self.n_heads, self.d_head).transpose(1, 2)

    def forward(self, x):
        B, L, E = x.size()
        q, k, v = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        i = torch.arange(L, device=x.device).view(L, 1)
        j = torch.arange(L, device=x.device).view(1, L)
        idx = torch.clamp(j - i, -self.max_dist, self.max_dist) + self.max_dist
        bias = self.relative_position_bias_table[idx.view(-1)].view(L, L, -1)
        scores = scores + bias.permute(2, 0, 1)
        p = F.softmax(scores, dim=-1)
        p = p * (p > 1e-3)
        y = p @ v
        return self.W_o(y.transpose(1, 2).contiguous().view(B, L, E))
