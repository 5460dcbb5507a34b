# expect: accepted
# problem: cross-attention
import math

import torch
import torch.nn as nn


class CrossAttention(nn.Module):
    """交叉注意力：Q 来自 x，K、V 来自 context。"""

    def __init__(self, hidden_size, num_heads, context_size):
        super().__init__()
        assert hidden_size % num_heads == 0
        self.num_heads = num_heads
        self.head_dim = hidden_size // num_heads
        # 每个头一个矩阵 (H, 输入, D)
        self.w_q = nn.Parameter(torch.empty(num_heads, hidden_size, self.head_dim))
        self.w_k = nn.Parameter(torch.empty(num_heads, context_size, self.head_dim))
        self.w_v = nn.Parameter(torch.empty(num_heads, context_size, self.head_dim))
        self.w_o = nn.Parameter(torch.empty(num_heads, self.head_dim, hidden_size))
        for p in self.parameters():
            nn.init.xavier_uniform_(p)

    def forward(self, x, context, context_mask=None):
        q = torch.einsum("ble,hed->bhld", x, self.w_q)
        k = torch.einsum("bsc,hcd->bhsd", context, self.w_k)
        v = torch.einsum("bsc,hcd->bhsd", context, self.w_v)
        s = q @ k.mT / math.sqrt(self.head_dim)
        if context_mask is not None:
            s = s.masked_fill(context_mask.eq(0)[:, None, None, :], torch.finfo(s.dtype).min)
        p = torch.exp(s - s.max(dim=-1, keepdim=True)[0])
        p = p / p.sum(dim=-1, keepdim=True)  # 归一化
        return torch.einsum("bhld,hde->ble", p @ v, self.w_o)
