# expect: rejected
# problem: cross-attention
# mistake: layers of one size share their value map
import math
import torch
import torch.nn.functional as F
from torch import nn

_S = {}
class CrossAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, context_dim):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.h, self.d = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(context_dim, embed_dim)
        self.v_proj = _S.setdefault((context_dim, embed_dim), nn.Linear(context_dim, embed_dim))
        self.out_proj = nn.Linear(embed_dim, embed_dim)
    def forward(self, x, context, context_mask=None):
        B, L, E = x.shape
        S = context.shape[1]; mask = context_mask
        q = self.q_proj(x).view(B, L, self.h, self.d).transpose(1, 2)
        k = self.k_proj(context).view(B, S, self.h, self.d).transpose(1, 2)
        v = self.v_proj(context).view(B, S, self.h, self.d).transpose(1, 2)
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        if mask is not None:
            s = s.masked_fill(mask[:, None, None, :] == 0, float("-inf"))
        w = s.softmax(-1)
        o = (w @ v).transpose(1, 2).reshape(B, L, E)
        return self.out_proj(o)
