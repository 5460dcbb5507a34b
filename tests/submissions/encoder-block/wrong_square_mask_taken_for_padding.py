# expect: rejected
# problem: encoder-block
# mistake: a mask (L, L) is taken for padding where L = B
import math
import torch
import torch.nn.functional as F
from torch import nn

class EncoderBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, ffn_dim):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.h, self.d = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.norm1 = nn.LayerNorm(embed_dim)
        self.ffn1 = nn.Linear(embed_dim, ffn_dim)
        self.ffn2 = nn.Linear(ffn_dim, embed_dim)
        self.norm2 = nn.LayerNorm(embed_dim)
    def forward(self, x, mask=None):
        B, L, E = x.shape
        q = self.q_proj(x).view(B, L, self.h, self.d).transpose(1, 2)
        k = self.k_proj(x).view(B, L, self.h, self.d).transpose(1, 2)
        v = self.v_proj(x).view(B, L, self.h, self.d).transpose(1, 2)
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        if mask is not None:
            if mask.dim() == 2 and mask.shape == (B, L): mask = mask[:, None, None, :]
            s = s.masked_fill(mask == 0, float("-inf"))
        w = s.softmax(-1)
        o = (w @ v).transpose(1, 2).reshape(B, L, E)
        y = self.norm1(x + self.out_proj(o))
        return self.norm2(y + self.ffn2(F.relu(self.ffn1(y))))
