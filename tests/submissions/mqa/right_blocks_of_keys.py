# expect: accepted
# problem: mqa
import torch
from torch import nn


class MultiQueryAttention(nn.Module):
    """Keys in blocks of four, with a running softmax."""

    def __init__(self, embed_dim, num_heads, block=4):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(embed_dim, num_heads)
        self.h, self.block = num_heads, block
        self.wq = nn.Linear(embed_dim, embed_dim)
        self.wkv = nn.Linear(embed_dim, 2 * (embed_dim // num_heads))
        self.wo = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        b, n, e = x.shape
        q = self.wq(x).view(b, n, self.h, -1).transpose(1, 2)
        k, v = self.wkv(x).unsqueeze(1).chunk(2, dim=-1)
        keep = torch.ones(n, n) if mask is None else mask
        keep = (keep != 0).expand(b, self.h, n, n)
        top = q.new_full((b, self.h, n, 1), torch.finfo(x.dtype).min)
        total, acc = torch.zeros_like(top), torch.zeros_like(q)
        for at in range(0, n, self.block):
            cut = slice(at, at + self.block)
            s = q @ k[:, :, cut].mT / q.shape[-1] ** 0.5
            s = s.masked_fill(~keep[..., cut], -torch.inf)
            new = torch.maximum(top, s.amax(-1, keepdim=True))
            old, p = torch.exp(top - new), torch.exp(s - new)
            total = total * old + p.sum(-1, keepdim=True)
            acc = acc * old + p @ v[:, :, cut]
            top = new
        return self.wo((acc / total).transpose(1, 2).reshape(b, n, e))
