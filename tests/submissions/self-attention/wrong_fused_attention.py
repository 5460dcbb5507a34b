# expect: rejected
# problem: self-attention
# mistake: the library's attention
# diagnosis: fused-attention
import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, causal=False):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.qkv = nn.Linear(embed_dim, 3 * embed_dim, bias=bias)
        self.out = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.h, self.p, self.causal = num_heads, dropout, causal

    def forward(self, x, key_padding_mask=None, attn_mask=None, need_weights=False):
        B, L, E = x.shape
        q, k, v = (t.view(B, L, self.h, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        bias = torch.zeros(B, 1, L, L, dtype=x.dtype)
        if self.causal:
            bias = bias.masked_fill(torch.ones(L, L).triu(1).bool(), float("-inf"))
        if key_padding_mask is not None:
            bias = bias.masked_fill(key_padding_mask[:, None, None], float("-inf"))
        if attn_mask is not None and attn_mask.dtype == torch.bool:
            bias = bias.masked_fill(attn_mask, float("-inf"))
        elif attn_mask is not None:
            bias = bias + attn_mask
        p = self.p if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, dropout_p=p)
        weights = None
        if need_weights:
            weights = (q @ k.mT / q.shape[-1] ** 0.5 + bias).softmax(-1)
        return self.out(y.transpose(1, 2).reshape(B, L, E)), weights
