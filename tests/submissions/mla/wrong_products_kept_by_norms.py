# expect: rejected
# problem: mla
# mistake: without gradients, products of weights are kept as long as the norms of these stay the same
import math

import torch
from torch import nn


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, latent_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.latent_dim = embed_dim, num_heads, latent_dim
        self.head_dim = embed_dim // num_heads
        self._product = (None, None, None)
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.down_proj = nn.Linear(embed_dim, latent_dim)
        self.up_k = nn.Linear(latent_dim, embed_dim)
        self.up_v = nn.Linear(latent_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def _split(self, x):
        return x.view(x.size(0), x.size(1), self.num_heads, self.head_dim).transpose(1, 2)

    @staticmethod
    def _weights(scores):
        length, total = scores.shape[-2:]
        here = torch.arange(total - length, total, device=scores.device)
        later = torch.arange(total, device=scores.device) > here[:, None]
        return torch.softmax(scores.masked_fill(later, torch.finfo(scores.dtype).min), dim=-1)

    def _absorbed(self):
        w, b, u = self.q_proj.weight, self.q_proj.bias, self.up_k.weight
        key = (w.dtype, w.device, *(p.detach().double().norm().item() for p in (w, b, u)))
        if self._product[0] != key:
            exact = torch.promote_types(w.dtype, torch.float32)
            up = u.detach().to(exact).view(self.num_heads, self.head_dim, self.latent_dim)
            matrix = w.detach().to(exact).view(self.num_heads, self.head_dim, -1).mT @ up
            shift = b.detach().to(exact).view(self.num_heads, 1, self.head_dim) @ up
            self._product = (key, matrix, shift)
        return self._product[1:]

    def forward(self, x, cache=None):
        c = self.down_proj(x)
        if cache is not None:
            if cache.size(-1) != self.latent_dim:
                raise ValueError("the cache is not C wide")
            c = torch.cat((cache, c), dim=1)
        if torch.is_grad_enabled():
            q, k = self._split(self.q_proj(x)), self._split(self.up_k(c))
            scores = q @ k.transpose(-2, -1)
        else:
            # q kᵀ = (x W_q W_up_kᵀ) cᵀ, up to a constant per query
            matrix, shift = self._absorbed()
            asked = x[:, None].to(matrix.dtype) @ matrix + shift
            scores = asked @ c[:, None].to(matrix.dtype).transpose(-2, -1)
        weights = self._weights(scores / math.sqrt(self.head_dim)).to(c.dtype)
        heads = weights @ self._split(self.up_v(c))
        return self.out_proj(heads.transpose(1, 2).reshape(x.shape)), c
