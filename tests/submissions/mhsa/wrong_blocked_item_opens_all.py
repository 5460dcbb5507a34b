# expect: rejected
# problem: mhsa
# mistake: an item without open keys opens every key of the batch
import math
import torch
import torch.nn.functional as F
from torch import nn

class MultiHeadSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.h, self.d = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
    def forward(self, x, mask=None):
        B, L, E = x.shape
        q = self.q_proj(x).view(B, L, self.h, self.d).transpose(1, 2)
        k = self.k_proj(x).view(B, L, self.h, self.d).transpose(1, 2)
        v = self.v_proj(x).view(B, L, self.h, self.d).transpose(1, 2)
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        if mask is not None:
            s = s.masked_fill(mask == 0, float("-inf"))
        w = s.softmax(-1)
        if mask is not None and mask.dim()==4 and w.isnan().any(): w = torch.ones_like(w) / L
        o = (w @ v).transpose(1, 2).reshape(B, L, E)
        return self.out_proj(o)
