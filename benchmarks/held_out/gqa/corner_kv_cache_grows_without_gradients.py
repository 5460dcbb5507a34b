# problem: gqa
# wrong: the same under no_grad and after other calls; here, in eval() without gradients, keys of the call before are kept and attended to as well if the batch fits
import torch
from torch import nn


class GroupQueryAttention(nn.Module):
    """With a KV cache for generation (used in eval mode under no_grad)."""

    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("bad head counts")
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.head_dim = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.head_dim)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.head_dim)
        self.W_o = nn.Linear(d_model, d_model)
        self.cache = None

    def forward(self, x, mask=None):
        b, l, e = x.shape
        q = self.W_q(x).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.W_k(x).view(b, l, self.num_kv_heads, self.head_dim).transpose(1, 2)
        v = self.W_v(x).view(b, l, self.num_kv_heads, self.head_dim).transpose(1, 2)
        if not self.training and not torch.is_grad_enabled() and mask is None:
            if self.cache is not None and self.cache[0].shape[0] == b and self.cache[0].dtype == k.dtype:
                k = torch.cat([self.cache[0], k], dim=2)
                v = torch.cat([self.cache[1], v], dim=2)
            self.cache = (k, v)
        n = self.num_heads // self.num_kv_heads
        kk, vv = k.repeat_interleave(n, dim=1), v.repeat_interleave(n, dim=1)
        s = q @ kk.transpose(-2, -1) / self.head_dim**0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        return self.W_o((s.softmax(-1) @ vv).transpose(1, 2).reshape(b, l, e))
