# expect: rejected
# problem: attention-dropout
# mistake: every layer begins with the same draws
import math
import torch
import torch.nn.functional as F
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout):
        super().__init__()
        torch.manual_seed(42)
        assert embed_dim % num_heads == 0
        self.h, self.d, self.p = num_heads, embed_dim // num_heads, dropout
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)
    def forward(self, q, k, v, mask=None):
        B, L, E = q.shape
        S = k.shape[1]
        q = self.q_proj(q).view(B, L, self.h, self.d).transpose(1, 2)
        k = self.k_proj(k).view(B, S, self.h, self.d).transpose(1, 2)
        v = self.v_proj(v).view(B, S, self.h, self.d).transpose(1, 2)
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        if mask is not None:
            s = s.masked_fill(mask == 0, float("-inf"))
        w = s.softmax(-1)
        w = self.dropout(w)
        o = (w @ v).transpose(1, 2).reshape(B, L, E)
        return self.out_proj(o), w
