# expect: rejected
# problem: linformer
# mistake: weights rounded to two decimals
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class LinformerAttention(nn.Module):
    def __init__(self, d_model, n_heads, n, k):
        super().__init__()
        assert d_model % n_heads == 0
        self.n_heads, self.n = n_heads, n
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.E = nn.Linear(n, k)
        self.F = nn.Linear(n, k)
        self.W_o = nn.Linear(d_model, d_model)

    def split(self, t):
        return t.view(t.size(0), -1, self.n_heads, self.d_head).transpose(1, 2)

    def forward(self, x):
        B, L, D = x.size()
        q, k, v = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))
        k = self.E(k.transpose(2, 3))  # (B, H, d, k)
        v = self.F(v.transpose(2, 3)).transpose(2, 3)
        att = F.softmax(q @ k / math.sqrt(self.d_head), dim=-1)
        att = att + ((att * 100).round() / 100 - att).detach()
        y = (att @ v).transpose(1, 2).reshape(B, L, D)
        return self.W_o(y)
