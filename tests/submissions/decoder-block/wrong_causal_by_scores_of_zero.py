# expect: rejected
# problem: decoder-block
# mistake: a score of exactly 0 counts as the future
import math
import torch
import torch.nn.functional as F
from torch import nn

class Attention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.h, self.d = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
    def forward(self, x, c, mask=None, causal=False):
        B, L, E = x.shape
        S = c.shape[1]
        q = self.q_proj(x).view(B, L, self.h, self.d).transpose(1, 2)
        k = self.k_proj(c).view(B, S, self.h, self.d).transpose(1, 2)
        v = self.v_proj(c).view(B, S, self.h, self.d).transpose(1, 2)
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        if causal:
            s = torch.tril(s)
            s = s.masked_fill(s == 0, float("-inf"))
        if mask is not None:
            s = s.masked_fill(mask == 0, float("-inf"))
        w = s.softmax(-1)
        o = (w @ v).transpose(1, 2).reshape(B, L, E)
        return self.out_proj(o)
class DecoderBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, ffn_dim):
        super().__init__()
        self.self_attn = Attention(embed_dim, num_heads)
        self.norm1 = nn.LayerNorm(embed_dim)
        self.cross_attn = Attention(embed_dim, num_heads)
        self.norm2 = nn.LayerNorm(embed_dim)
        self.ffn1 = nn.Linear(embed_dim, ffn_dim)
        self.ffn2 = nn.Linear(ffn_dim, embed_dim)
        self.norm3 = nn.LayerNorm(embed_dim)
    def forward(self, x, memory, memory_mask=None):
        y = self.norm1(x + self.self_attn(x, x, causal=True))
        z = self.norm2(y + self.cross_attn(y, memory, memory_mask))
        return self.norm3(z + self.ffn2(F.relu(self.ffn1(z))))
