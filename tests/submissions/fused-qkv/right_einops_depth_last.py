# expect: accepted
# problem: fused-qkv
import torch
from einops import rearrange
from torch import nn


class FusedMHSA(nn.Module):
    """(H, D, 3): queries, keys and values side by side."""

    def __init__(self, emb_size, num_heads, dropout=0.0):
        super().__init__()
        assert emb_size % num_heads == 0
        self.emb_size, self.num_heads = emb_size, num_heads
        self.qkv = nn.Linear(emb_size, emb_size * 3)
        self.att_drop = nn.Dropout(dropout)
        self.projection = nn.Linear(emb_size, emb_size)

    def forward(self, x, mask=None):
        qkv = rearrange(self.qkv(x), "b n (h d qkv) -> (qkv) b h n d", h=self.num_heads, qkv=3)
        queries, keys, values = qkv[0], qkv[1], qkv[2]
        energy = torch.einsum("bhqd, bhkd -> bhqk", queries, keys)
        energy = energy / (self.emb_size // self.num_heads) ** 0.5
        if mask is not None:
            energy = energy.masked_fill(mask == 0, torch.finfo(energy.dtype).min)
        att = self.att_drop(energy.softmax(-1))
        out = torch.einsum("bhal, bhlv -> bhav", att, values)
        return self.projection(rearrange(out, "b h n d -> b n (h d)"))
