# expect: rejected
# problem: self-attention
# mistake: nn.MultiheadAttention does the work
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, causal=False):
        super().__init__()
        self.mha = nn.MultiheadAttention(
            embed_dim, num_heads, dropout=dropout, bias=bias, batch_first=True
        )
        self.causal = causal

    def forward(self, x, key_padding_mask=None, attn_mask=None, need_weights=False):
        B, L, _ = x.shape
        H = self.mha.num_heads
        bias = torch.zeros(B, H, L, L, dtype=x.dtype)
        if self.causal:
            bias = bias.masked_fill(torch.ones(L, L).triu(1).bool(), float("-inf"))
        if key_padding_mask is not None:
            bias = bias.masked_fill(key_padding_mask[:, None, None], float("-inf"))
        if attn_mask is not None and attn_mask.dtype == torch.bool:
            bias = bias.masked_fill(attn_mask, float("-inf"))
        elif attn_mask is not None:
            bias = bias + attn_mask
        return self.mha(
            x, x, x, attn_mask=bias.flatten(0, 1), need_weights=need_weights,
            average_attn_weights=False,
        )
