# expect: rejected
# problem: linformer
# mistake: compresses x before the maps k and v
# diagnosis: length-before-width
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
        k, v = self.E(x.transpose(1, 2)).transpose(1, 2), self.F(x.transpose(1, 2)).transpose(1, 2)
        q, k, v = self.split(self.W_q(x)), self.split(self.W_k(k)), self.split(self.W_v(v))
        k = k.transpose(2, 3)
        att = F.softmax(q @ k / math.sqrt(self.d_head), dim=-1)
        y = (att @ v).transpose(1, 2).reshape(B, L, D)
        return self.W_o(y)
