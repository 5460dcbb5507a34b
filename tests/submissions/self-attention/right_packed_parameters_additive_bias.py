# expect: accepted
# problem: self-attention
"""Packed projection as one parameter; every mask becomes one additive bias."""

import torch
import torch.nn.functional as F
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, causal=False):
        super().__init__()
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.causal = causal
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim))
        if bias:
            self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        nn.init.xavier_uniform_(self.in_proj_weight)

    def _bias(self, x, key_padding_mask, attn_mask):
        B, L, _ = x.shape
        total = x.new_zeros(B, 1, L, L)
        if key_padding_mask is not None:
            pad = torch.zeros(B, L, dtype=x.dtype, device=x.device)
            pad = pad.masked_fill(key_padding_mask, float("-inf"))
            total = total + pad.view(B, 1, 1, L)
        if attn_mask is not None:
            if attn_mask.dtype == torch.bool:
                blocked = attn_mask
                attn_mask = torch.zeros(blocked.shape, dtype=x.dtype, device=x.device)
                attn_mask = attn_mask.masked_fill(blocked, float("-inf"))
            total = total + attn_mask
        if self.causal:
            total = total + torch.full((L, L), float("-inf"), dtype=x.dtype).triu(diagonal=1)
        return total

    def forward(self, x, key_padding_mask=None, attn_mask=None, need_weights=False):
        B, L, E = x.shape
        q, k, v = F.linear(x, self.in_proj_weight, self.in_proj_bias).chunk(3, dim=-1)
        q = q.reshape(B, L, self.num_heads, self.head_dim).transpose(1, 2)
        k = k.reshape(B, L, self.num_heads, self.head_dim).transpose(1, 2)
        v = v.reshape(B, L, self.num_heads, self.head_dim).transpose(1, 2)
        q = q * self.head_dim**-0.5
        weights = q @ k.transpose(-2, -1) + self._bias(x, key_padding_mask, attn_mask)
        weights = F.softmax(weights, dim=-1)
        weights = F.dropout(weights, p=self.dropout, training=self.training)
        out = (weights @ v).transpose(1, 2).reshape(B, L, E)
        out = self.out_proj(out)
        return (out, weights) if need_weights else (out, None)
