# expect: accepted
# problem: cross-attention
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class CrossAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, kdim, vdim=None, dropout=0.0, bias=True, batch_first=True):
        super().__init__()
        vdim = kdim if vdim is None else vdim
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        assert self.head_dim * num_heads == self.embed_dim
        self.q_proj_weight = nn.Parameter(torch.randn(embed_dim, embed_dim))
        self.k_proj_weight = nn.Parameter(torch.randn(embed_dim, kdim))
        self.v_proj_weight = nn.Parameter(torch.randn(embed_dim, vdim))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim))
        self.out_proj = nn.Linear(embed_dim, embed_dim)
    def forward(self, x, context, context_mask=None):
        B, L, E = x.shape
        if context.shape[0] != B: raise ValueError
        b = self.in_proj_bias.chunk(3)
        q, k, v = (F.linear(t, w, c) for t, w, c in zip((x, context, context), (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight), b))
        q, k, v = (t.transpose(0, 1).reshape(-1, B * self.num_heads, self.head_dim).transpose(0, 1) for t in (q, k, v))
        s = torch.bmm(q, k.transpose(1, 2)) / self.head_dim ** 0.5
        if context_mask is not None:
            pad = (context_mask == 0).repeat_interleave(self.num_heads, 0).unsqueeze(1)
            s = s.masked_fill(pad, -torch.inf)
        o = torch.bmm(s.softmax(-1), v).transpose(0, 1).reshape(L, B, E).transpose(0, 1)
        return self.out_proj(o)
