# expect: rejected
# problem: mhsa
# mistake: torch's own multi-head attention in a wrapper
import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.inner = nn.MultiheadAttention(d_model, num_heads, batch_first=True)

    def forward(self, x, mask=None):
        if mask is not None:
            b, n, _ = x.shape
            mask = (mask == 0).expand(b, self.num_heads, n, n).reshape(-1, n, n)
        return self.inner(x, x, x, attn_mask=mask, need_weights=False)[0]
