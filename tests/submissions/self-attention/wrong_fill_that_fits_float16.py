# expect: rejected
# problem: self-attention
# −65504 is the lowest number of float16: open scores below it are overtaken by blocked ones.
import torch
from torch import nn

BLOCKED = torch.finfo(torch.half).min


class SelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, causal=False):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.num_heads, self.causal = num_heads, causal
        self.query = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.key = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.value = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, key_padding_mask=None, attn_mask=None, need_weights=False):
        n, length, width = x.shape
        shape = (n, length, self.num_heads, width // self.num_heads)
        q = self.query(x).view(shape).transpose(1, 2)
        k = self.key(x).view(shape).transpose(1, 2)
        v = self.value(x).view(shape).transpose(1, 2)
        logits = q @ k.mT / shape[-1] ** 0.5
        if self.causal:
            later = torch.ones(length, length, device=x.device).triu(1).bool()
            logits = logits.masked_fill(later, BLOCKED)
        if attn_mask is not None:
            logits = logits + attn_mask if attn_mask.is_floating_point() else logits.masked_fill(attn_mask, BLOCKED)
        if key_padding_mask is not None:
            if key_padding_mask.shape != x.shape[:2]:
                raise ValueError("key_padding_mask must have the batch and length of x")
            logits = logits.masked_fill(key_padding_mask[:, None, None], BLOCKED)
        weights = logits.softmax(-1)
        mixed = (self.drop(weights) @ v).transpose(1, 2).reshape(n, length, width)
        return self.proj(mixed), weights if need_weights else None
