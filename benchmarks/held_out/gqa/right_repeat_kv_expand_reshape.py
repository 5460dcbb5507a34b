# problem: gqa
# right: repeat_kv with expand and reshape, softmax in float32 and back to the dtype of the queries, no biases, extra option with a default
from typing import Optional

import torch
from torch import nn


def repeat_kv(hidden: torch.Tensor, n_rep: int) -> torch.Tensor:
    """(B, G, L, D) -> (B, G * n_rep, L, D), equal to repeat_interleave along axis 1."""
    batch, groups, length, dim = hidden.shape
    if n_rep == 1:
        return hidden
    hidden = hidden[:, :, None, :, :].expand(batch, groups, n_rep, length, dim)
    return hidden.reshape(batch, groups * n_rep, length, dim)


class GroupQueryAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int, dropout: float = 0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model={d_model} is not a multiple of num_heads={num_heads}")
        if num_heads % num_kv_heads:
            raise ValueError(f"num_heads={num_heads} is not a multiple of num_kv_heads={num_kv_heads}")
        self.head_dim = d_model // num_heads
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.W_q = nn.Linear(d_model, num_heads * self.head_dim, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.head_dim, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.head_dim, bias=False)
        self.W_o = nn.Linear(num_heads * self.head_dim, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor, mask: Optional[torch.Tensor] = None) -> torch.Tensor:
        bsz, q_len, _ = x.size()
        query = self.W_q(x).view(bsz, q_len, self.num_heads, self.head_dim).transpose(1, 2)
        key = self.W_k(x).view(bsz, q_len, self.num_kv_heads, self.head_dim).transpose(1, 2)
        value = self.W_v(x).view(bsz, q_len, self.num_kv_heads, self.head_dim).transpose(1, 2)
        key = repeat_kv(key, self.num_heads // self.num_kv_heads)
        value = repeat_kv(value, self.num_heads // self.num_kv_heads)

        attn = torch.matmul(query * self.head_dim**-0.5, key.transpose(2, 3))
        if mask is not None:
            attn = attn.masked_fill(~mask.bool(), torch.finfo(attn.dtype).min)
        wide = torch.promote_types(attn.dtype, torch.float32)
        attn = self.dropout(torch.softmax(attn, dim=-1, dtype=wide).to(query.dtype))
        out = torch.matmul(attn, value).transpose(1, 2).reshape(bsz, q_len, -1)
        return self.W_o(out)
