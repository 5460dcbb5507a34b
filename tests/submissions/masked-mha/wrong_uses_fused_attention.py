# expect: rejected
# problem: masked-mha
# mistake: calls the fused kernel
import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.num_heads = num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, q, k, v, mask=None):
        q, k, v = (
            m(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for m, x in ((self.q_proj, q), (self.k_proj, k), (self.v_proj, v))
        )
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=None if mask is None else mask.bool())
        return self.out_proj(out.transpose(1, 2).flatten(2))
