# expect: rejected
# problem: mhsa
# mistake: a learned position table inside the layer
import math

import torch
import torch.nn as nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, max_len=512):
        super().__init__()
        assert d_model % num_heads == 0
        self.h, self.d = num_heads, d_model // num_heads
        self.position = nn.Embedding(max_len, d_model)
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, n, e = x.shape
        x = x + self.position(torch.arange(n))
        q = self.W_q(x).view(b, n, self.h, self.d).transpose(1, 2)
        k = self.W_k(x).view(b, n, self.h, self.d).transpose(1, 2)
        v = self.W_v(x).view(b, n, self.h, self.d).transpose(1, 2)
        s = q @ k.transpose(-1, -2) / math.sqrt(self.d)
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        return self.W_o((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, e))
