# problem: gqa
# wrong: the mask is applied to the scores before the softmax; here to the weights behind it, which then no longer sum to 1
# needs: mask
import torch
import torch.nn as nn

class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        assert d_model % num_heads == 0 and num_heads % num_kv_heads == 0
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = d_model // num_heads
        self.scale = self.head_dim ** -0.5
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.head_dim)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.head_dim)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, l, _ = x.shape
        groups = self.num_heads // self.num_kv_heads
        q = self.W_q(x).view(b, l, self.num_heads, -1).transpose(1, 2)
        k = self.W_k(x).view(b, l, self.num_kv_heads, -1).transpose(1, 2).repeat_interleave(groups, dim=1)
        v = self.W_v(x).view(b, l, self.num_kv_heads, -1).transpose(1, 2).repeat_interleave(groups, dim=1)
        weights = torch.softmax(torch.matmul(q, k.transpose(2, 3)) * self.scale, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        return self.W_o(torch.matmul(weights, v).transpose(1, 2).reshape(b, l, -1))
