# expect: rejected
# problem: linformer
# mistake: maps from d_model to k
# diagnosis: features-projected
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
        self.E = nn.Linear(d_model, k)
        self.F = nn.Linear(d_model, k)
        self.W_o = nn.Linear(d_model, d_model)

    def split(self, t):
        return t.view(t.size(0), -1, self.n_heads, self.d_head).transpose(1, 2)

    def forward(self, x):
        B, L, D = x.size()
        q, k, v = self.E(self.W_q(x)), self.E(self.W_k(x)), self.W_v(x)
        y = F.softmax(q @ k.mT / math.sqrt(self.d_head), dim=-1) @ v
        return self.W_o(y)
