# problem: gqa
# wrong: 1 means may attend; here 1 (True) is taken as "blocked" for every mask
# needs: mask
import torch
from torch import nn


class GroupQueryAttention(nn.Module):
    """GQA; mask: True for positions that are padding."""

    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        if num_heads % num_kv_heads != 0:
            raise ValueError("num_heads must be divisible by num_kv_heads")
        self.head_dim = d_model // num_heads
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.repeats = num_heads // num_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.head_dim, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.head_dim, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        bs, n, _ = x.shape
        q = self.W_q(x).view(bs, n, self.num_heads, self.head_dim).permute(0, 2, 1, 3)
        k = self.W_k(x).view(bs, n, self.num_kv_heads, self.head_dim).permute(0, 2, 3, 1)
        v = self.W_v(x).view(bs, n, self.num_kv_heads, self.head_dim).permute(0, 2, 1, 3)
        k = torch.repeat_interleave(k, self.repeats, dim=1)
        v = torch.repeat_interleave(v, self.repeats, dim=1)
        logits = (q @ k) * self.head_dim ** -0.5
        if mask is not None:
            logits = logits.masked_fill(mask.bool(), -1e9)
        return self.W_o((logits.softmax(-1) @ v).permute(0, 2, 1, 3).reshape(bs, n, -1))
