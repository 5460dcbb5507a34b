# problem: gqa
# wrong: a mask means the same from int8 on; here a number mask is multiplied by -10**9 in its own dtype, which int8, uint8 and int16 cannot hold
# needs: mask
import torch
from torch import nn
import torch.nn.functional as F

class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        assert d_model % num_heads == 0
        assert num_heads % num_kv_heads == 0
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.head_dim)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.head_dim)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        B, L, E = x.shape
        q = self.W_q(x).view(B, L, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.W_k(x).view(B, L, self.num_kv_heads, self.head_dim).transpose(1, 2)
        v = self.W_v(x).view(B, L, self.num_kv_heads, self.head_dim).transpose(1, 2)
        k = k.repeat_interleave(self.num_heads // self.num_kv_heads, dim=1)
        v = v.repeat_interleave(self.num_heads // self.num_kv_heads, dim=1)
        scores = q @ k.transpose(-2, -1) / (self.head_dim ** 0.5)
        if mask is not None:
            if mask.dtype == torch.bool:
                mask = mask.long()
            scores = scores + ((mask - 1) * 1_000_000_000).to(scores.dtype)
        attn = F.softmax(scores, dim=-1)
        return self.W_o((attn @ v).transpose(1, 2).contiguous().view(B, L, E))
