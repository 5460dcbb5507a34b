# expect: rejected
# problem: mhsa
# mistake: the fused features are reshaped together with the positions
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, dim, num_heads, qkv_bias=True):
        super().__init__()
        assert dim % num_heads == 0
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, 3, self.num_heads, N, -1).unbind(1)
        attn = q @ k.transpose(-2, -1) * self.scale
        if mask is not None:
            attn = attn.masked_fill(mask == 0, float("-inf"))
        x = (attn.softmax(dim=-1) @ v).transpose(1, 2).reshape(B, N, C)
        return self.proj(x)
