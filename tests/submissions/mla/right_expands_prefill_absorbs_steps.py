# expect: accepted
# problem: mla
import torch
from torch import nn
from torch.nn import functional as F


class MultiHeadLatentAttention(nn.Module):
    """Long inputs expand the latents, short ones absorb the up maps, as servers do."""

    def __init__(self, embed_dim, num_heads, latent_dim, dropout=0.0, max_seq_len=64):
        super().__init__()
        if num_heads <= 0 or embed_dim % num_heads != 0:
            raise ValueError("embed_dim % num_heads")
        self.h, self.d = num_heads, embed_dim // num_heads
        self.wq = nn.Linear(embed_dim, embed_dim, bias=False)
        self.wkv_a = nn.Linear(embed_dim, latent_dim)
        self.wk_b = nn.Linear(latent_dim, embed_dim, bias=False)
        self.wv_b = nn.Linear(latent_dim, embed_dim, bias=False)
        self.wo = nn.Linear(embed_dim, embed_dim)
        self.drop = nn.Dropout(dropout)
        triangle = torch.full((max_seq_len, max_seq_len), float("-inf")).triu(1)
        self.register_buffer("triangle", triangle, persistent=False)

    def bias(self, past, new, like):
        if past + new > len(self.triangle):
            return like.new_full((new, past + new), float("-inf")).triu(past + 1)
        return self.triangle[past : past + new, : past + new].to(like.dtype)

    def forward(self, x, cache=None):
        new = self.wkv_a(x)
        c = new if cache is None else torch.cat((cache, new), 1)
        past = c.shape[1] - x.shape[1]
        q = self.wq(x).unflatten(-1, (self.h, self.d)).transpose(1, 2) * self.d**-0.5
        if x.shape[1] > past:
            k, v = (
                w(c).unflatten(-1, (self.h, self.d)).transpose(1, 2) for w in (self.wk_b, self.wv_b)
            )
            p = F.softmax(q @ k.transpose(-1, -2) + self.bias(past, x.shape[1], x), -1)
            y = self.drop(p) @ v
        else:
            k, v = (w.weight.view(self.h, self.d, -1) for w in (self.wk_b, self.wv_b))
            p = F.softmax((q @ k) @ c[:, None].mT + self.bias(past, x.shape[1], x), -1)
            y = self.drop(p) @ c[:, None] @ v.mT
        return self.wo(y.transpose(1, 2).flatten(2)), c
