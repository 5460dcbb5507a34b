# problem: gqa
# wrong: a num_kv_heads that does not divide num_heads must raise; here h * G // H quietly deals out uneven groups
# needs: errors
import torch
from torch import nn


class GroupQueryAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model must be a multiple of num_heads")
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.head_dim, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.head_dim, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, _ = x.shape
        D = self.head_dim
        q = self.W_q(x).view(B, L, -1, D).transpose(1, 2)
        k = self.W_k(x).view(B, L, -1, D).transpose(1, 2)
        v = self.W_v(x).view(B, L, -1, D).transpose(1, 2)
        groups = torch.arange(self.num_heads, device=x.device) * self.num_kv_heads // self.num_heads
        k, v = k[:, groups], v[:, groups]
        scores = q @ k.mT * D**-0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        heads = scores.softmax(dim=-1) @ v
        return self.W_o(heads.transpose(1, 2).flatten(2))
