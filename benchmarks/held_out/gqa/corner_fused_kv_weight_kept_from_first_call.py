# problem: gqa
# wrong: the answer follows weights that are set anew in any way; here, without gradients, a fused copy of W_k and W_v made in the first call is used for ever
import torch
import torch.nn.functional as F
from torch import nn


class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        assert d_model % num_heads == 0 and num_heads % num_kv_heads == 0
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.head_dim = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.head_dim)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.head_dim)
        self.W_o = nn.Linear(d_model, d_model)
        self._fused = None

    def _kv(self, x):
        if torch.is_grad_enabled():
            self._fused = None
            return self.W_k(x), self.W_v(x)
        # inference: one product in place of two
        if self._fused is None or self._fused[0].dtype != x.dtype:
            weight = torch.cat([self.W_k.weight, self.W_v.weight])
            bias = None
            if self.W_k.bias is not None and self.W_v.bias is not None:
                bias = torch.cat([self.W_k.bias, self.W_v.bias])
            self._fused = weight, bias
        return F.linear(x, *self._fused).chunk(2, dim=-1)

    def forward(self, x, mask=None):
        b, l, e = x.shape
        k, v = self._kv(x)
        q = self.W_q(x).reshape(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        k = k.reshape(b, l, self.num_kv_heads, self.head_dim).transpose(1, 2)
        v = v.reshape(b, l, self.num_kv_heads, self.head_dim).transpose(1, 2)
        n = self.num_heads // self.num_kv_heads
        k, v = k.repeat_interleave(n, dim=1), v.repeat_interleave(n, dim=1)
        s = q @ k.transpose(2, 3) * self.head_dim**-0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        return self.W_o((s.softmax(-1) @ v).transpose(1, 2).reshape(b, l, e))
