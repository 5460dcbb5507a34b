# expect: rejected
# problem: decoder-attention
# mistake: the cache holds the keys as projected, and all of them are turned in every call
# diagnosis: cached-before-turning
import torch
from torch import nn


class DecoderAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads, window=None):
        super().__init__()
        self.D = embed_dim // num_heads
        if embed_dim % num_heads or num_heads % num_kv_heads or self.D % 2:
            raise ValueError("sizes do not fit")
        self.G, self.window = num_kv_heads, window
        self.q = nn.Linear(embed_dim, embed_dim)
        self.kv = nn.Linear(embed_dim, 2 * num_kv_heads * self.D)
        self.o = nn.Linear(embed_dim, embed_dim)

    def turn(self, x, first):
        i = torch.arange(self.D // 2, device=x.device)
        p = torch.arange(first, first + x.shape[-2], device=x.device)
        angle = p[:, None] * 10000.0 ** (-2.0 * i / self.D)
        c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        a, b = x[..., : self.D // 2], x[..., self.D // 2 :]
        return torch.cat([a * c - b * s, b * c + a * s], -1)

    def forward(self, x, cache=None):
        B, L, E = x.shape
        k, v = self.kv(x).view(B, L, 2, self.G, self.D).permute(2, 0, 3, 1, 4)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        T = k.shape[2] - L
        q = self.turn(self.q(x).view(B, L, -1, self.D).transpose(1, 2), T).unflatten(1, (self.G, -1))
        scores = torch.einsum("bgrld,bgsd->bgrls", q, self.turn(k, 0)) / self.D**0.5
        mask = torch.ones(L, T + L, dtype=torch.bool, device=x.device).tril(T)
        if self.window is not None:
            mask = mask.triu(T - self.window + 1)
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        out = torch.einsum("bgrls,bgsd->blgrd", weights, v)
        return self.o(out.reshape(B, L, E)), (k, v)
