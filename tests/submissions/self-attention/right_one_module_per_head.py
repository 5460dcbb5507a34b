# expect: accepted
# problem: self-attention
import torch
import torch.nn as nn
import torch.nn.functional as F


class Head(nn.Module):
    """ein Kopf der Aufmerksamkeit"""

    def __init__(self, embed_dim, head_size, dropout, bias):
        super().__init__()
        self.key = nn.Linear(embed_dim, head_size, bias=bias)
        self.query = nn.Linear(embed_dim, head_size, bias=bias)
        self.value = nn.Linear(embed_dim, head_size, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, added, hidden):
        wei = self.query(x) @ self.key(x).transpose(-2, -1) * self.key.out_features**-0.5
        if added is not None:
            wei = wei + added
        if hidden is not None:
            wei = wei.masked_fill(hidden, float("-inf"))
        wei = F.softmax(wei, dim=-1)
        return self.dropout(wei) @ self.value(x), wei


class SelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, causal=False):
        super().__init__()
        assert embed_dim % num_heads == 0
        size = embed_dim // num_heads
        self.heads = nn.ModuleList([Head(embed_dim, size, dropout, bias) for _ in range(num_heads)])
        self.proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.causal = causal

    def forward(self, x, key_padding_mask=None, attn_mask=None, need_weights=False):
        B, T, _ = x.shape
        results = []
        for index, head in enumerate(self.heads):
            added, hidden = None, torch.zeros(B, T, T, dtype=torch.bool)
            mine = attn_mask
            if mine is not None and mine.dim() == 4:
                mine = mine[:, index] if mine.shape[1] > 1 else mine[:, 0]
            if mine is not None and mine.dtype == torch.bool:
                hidden = hidden | mine
            elif mine is not None:
                added = mine
            if key_padding_mask is not None:
                hidden = hidden | key_padding_mask[:, None, :]
            if self.causal:
                hidden = hidden | ~torch.ones(T, T).tril().bool()
            results.append(head(x, added, hidden))
        out = self.proj(torch.cat([r[0] for r in results], dim=-1))
        if need_weights:
            return out, torch.stack([r[1] for r in results], dim=1)
        return out, None
