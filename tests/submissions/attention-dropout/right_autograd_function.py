# expect: accepted
# problem: attention-dropout
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class DropFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, p, training):
        if not training or p == 0:
            ctx.m = None
            return x.clone()
        ctx.m = (torch.rand_like(x) >= p).to(x.dtype) / (1 - p)
        return x * ctx.m
    @staticmethod
    def backward(ctx, g):
        return (g if ctx.m is None else g * ctx.m), None, None

class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.h, self.d = num_heads, embed_dim // num_heads
        self.p = dropout
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(embed_dim, embed_dim) for _ in range(4))
    def heads(self, x): return x.view(x.size(0), -1, self.h, self.d).transpose(1, 2)
    def forward(self, q, k, v, mask=None):
        q, k, v = self.heads(self.q_proj(q)), self.heads(self.k_proj(k)), self.heads(self.v_proj(v))
        s = q @ k.mT / math.sqrt(self.d)
        if mask is not None:
            s = s.masked_fill(mask == 0, -torch.inf)
        w = s.softmax(-1)
        w = DropFn.apply(w, self.p, self.training)
        return self.out_proj((w @ v).transpose(1, 2).flatten(2)), w
