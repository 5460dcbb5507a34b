# expect: rejected
# problem: decoder-attention
# mistake: neighbouring features are paired, as Llama's own code does with complex numbers
# diagnosis: interleaved-pairs
import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads, window=None):
        super().__init__()
        if dim % n_heads or n_heads % n_kv_heads or (dim // n_heads) % 2:
            raise ValueError("sizes")
        self.n_kv_heads, self.n_rep, self.head_dim = n_kv_heads, n_heads // n_kv_heads, dim // n_heads
        self.window = window
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wk = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)

    def apply_rotary_emb(self, x, start_pos):
        freqs = 1.0 / (10000.0 ** (torch.arange(0, self.head_dim, 2).float() / self.head_dim))
        t = torch.arange(start_pos, start_pos + x.shape[1])
        freqs_cis = torch.polar(torch.ones(len(t), len(freqs)), torch.outer(t.float(), freqs))
        x_ = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(x_ * freqs_cis[None, :, None]).flatten(3).type_as(x)

    def forward(self, x, cache=None):
        bsz, seqlen, _ = x.shape
        xq = self.wq(x).view(bsz, seqlen, -1, self.head_dim)
        xk = self.wk(x).view(bsz, seqlen, self.n_kv_heads, self.head_dim)
        xv = self.wv(x).view(bsz, seqlen, self.n_kv_heads, self.head_dim).transpose(1, 2)
        start_pos = cache[0].shape[2] if cache is not None else 0
        xq = self.apply_rotary_emb(xq, start_pos).transpose(1, 2)
        xk = self.apply_rotary_emb(xk, start_pos).transpose(1, 2)
        if cache is not None:
            xk, xv = torch.cat((cache[0], xk), 2), torch.cat((cache[1], xv), 2)
        keys = xk.repeat_interleave(self.n_rep, dim=1)
        values = xv.repeat_interleave(self.n_rep, dim=1)
        scores = torch.matmul(xq, keys.transpose(2, 3)) / math.sqrt(self.head_dim)
        mask = torch.full((seqlen, start_pos + seqlen), float("-inf")).triu(start_pos + 1)
        if self.window is not None:
            mask = mask + torch.full_like(mask, float("-inf")).tril(start_pos - self.window)
        scores = torch.softmax((scores + mask.nan_to_num(nan=0.0)).float(), dim=-1).type_as(xq)
        return self.wo(torch.matmul(scores, values).transpose(1, 2).reshape(bsz, seqlen, -1)), (xk, xv)
