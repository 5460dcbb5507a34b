# expect: rejected
# problem: gqa
# mistake: the library's attention, with the scores divided by the root of the width
# diagnosis: scale-by-sqrt-embed-dim, fused-attention
import torch
import torch.nn.functional as F
from torch import nn
class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        assert embed_dim % num_heads == 0 and num_heads % num_kv_heads == 0
        self.h, self.g, self.d = num_heads, num_kv_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, self.g * self.d)
        self.v_proj = nn.Linear(embed_dim, self.g * self.d)
        self.o_proj = nn.Linear(embed_dim, embed_dim)
    def forward(self, x, mask=None):
        B, L, E = x.shape
        q = self.q_proj(x).view(B, L, self.h, self.d).transpose(1, 2)
        k = self.k_proj(x).view(B, L, self.g, self.d).transpose(1, 2)
        v = self.v_proj(x).view(B, L, self.g, self.d).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=None if mask is None else mask.bool(), scale=E ** -0.5, enable_gqa=True)
        return self.o_proj(y.transpose(1, 2).reshape(B, L, E))
