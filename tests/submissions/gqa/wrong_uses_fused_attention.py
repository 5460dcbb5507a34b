# expect: rejected
# problem: gqa
# mistake: calls the fused kernel
# diagnosis: fused-attention
import torch
from torch import nn
import torch.nn.functional as F


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        assert d_model % num_heads == 0 and num_heads % num_kv_heads == 0
        self.d, self.r = d_model // num_heads, num_heads // num_kv_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, num_kv_heads * self.d)
        self.v_proj = nn.Linear(d_model, num_kv_heads * self.d)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        q, k, v = (
            m(x).unflatten(-1, (-1, self.d)).transpose(1, 2)
            for m in (self.q_proj, self.k_proj, self.v_proj)
        )
        k, v = k.repeat_interleave(self.r, 1), v.repeat_interleave(self.r, 1)
        if mask is not None:
            mask = mask.bool()
        o = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.o_proj(o.transpose(1, 2).flatten(2))
