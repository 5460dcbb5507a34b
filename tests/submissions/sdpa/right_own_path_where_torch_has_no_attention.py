# expect: accepted
# problem: sdpa
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class ScaledDotProductAttention(nn.Module):
    def __init__(self):
        super().__init__()
        # flash attention makes the GPU go brrr, but only in torch >= 2.0
        self.flash = hasattr(torch.nn.functional, "scaled_dot_product_attention")

    def forward(self, q, k, v, mask=None):
        if self.flash:
            bias = None if mask is None else mask.bool()
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
            return y, None
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        return att @ v, att
