# expect: rejected
# problem: fused-qkv
# mistake: the number of heads belongs to the class, not to the object
import math
import torch
import torch.nn.functional as F
from torch import nn

class FusedSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        FusedSelfAttention.h_ = num_heads
        self.h, self.d = num_heads, embed_dim // num_heads
        self.qkv = nn.Linear(embed_dim, 3 * embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
    def forward(self, x, mask=None):
        B, L, E = x.shape
        self.h, self.d = self.h_, E // self.h_
        q, k, v = self.qkv(x).reshape(B, L, 3, self.h, self.d).permute(2, 0, 3, 1, 4)
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        if mask is not None:
            s = s.masked_fill(mask == 0, float("-inf"))
        w = s.softmax(-1)
        o = (w @ v).transpose(1, 2).reshape(B, L, E)
        return self.out_proj(o)
