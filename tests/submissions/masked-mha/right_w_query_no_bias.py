# expect: accepted
# problem: masked-mha
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0, qkv_bias=False):
        super().__init__()
        assert d_model % num_heads == 0, "d_model must be divisible by num_heads"
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.W_query = nn.Linear(d_model, d_model, bias=qkv_bias)
        self.W_key = nn.Linear(d_model, d_model, bias=qkv_bias)
        self.W_value = nn.Linear(d_model, d_model, bias=qkv_bias)
        self.out_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        # not used here, but some of my checkpoints carry it
        self.register_buffer("mask", torch.triu(torch.ones(16, 16), diagonal=1))

    def forward(self, q, k, v, mask=None):
        b, n, d = q.shape
        queries = self.W_query(q).view(b, n, self.num_heads, self.head_dim).transpose(1, 2)
        keys = self.W_key(k).view(b, k.shape[1], self.num_heads, self.head_dim).transpose(1, 2)
        values = self.W_value(v).view(b, v.shape[1], self.num_heads, self.head_dim).transpose(1, 2)
        attn_scores = queries @ keys.transpose(2, 3)
        if mask is not None:
            attn_scores.masked_fill_(mask == 0, -torch.inf)
        attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
        attn_weights = self.dropout(attn_weights)
        context_vec = (attn_weights @ values).transpose(1, 2).contiguous().view(b, n, d)
        return self.out_proj(context_vec)
