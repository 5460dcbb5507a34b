# expect: accepted
# problem: decoder-attention
# The queries get a group axis, and keys that no query of the call can see are cut off first.
import torch
from torch import nn


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


class MistralAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, window=None):
        super().__init__()
        assert d_model % n_heads == 0 and n_heads % n_kv_heads == 0
        self.h, self.g, self.d = n_heads, n_kv_heads, d_model // n_heads
        assert self.d % 2 == 0
        self.window = window
        self.wqkv = nn.Linear(d_model, (n_heads + 2 * n_kv_heads) * self.d)
        self.wo = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        B, L, _ = x.shape
        q, k, v = self.wqkv(x).split([self.h * self.d, self.g * self.d, self.g * self.d], dim=-1)
        q = q.reshape(B, L, self.g, self.h // self.g, self.d).permute(0, 2, 3, 1, 4)
        k = k.reshape(B, L, self.g, self.d).transpose(1, 2)
        v = v.reshape(B, L, self.g, self.d).transpose(1, 2)

        start = cache[0].shape[-2] if cache is not None else 0
        p = torch.arange(start, start + L, device=x.device, dtype=torch.float64)
        i = torch.arange(self.d // 2, device=x.device, dtype=torch.float64)
        angle = p[:, None] * 10000 ** (-2 * i / self.d)
        angle = torch.cat((angle, angle), dim=-1)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        if cache is not None:
            k, v = torch.cat((cache[0], k), -2), torch.cat((cache[1], v), -2)

        first = 0 if self.window is None else max(0, start + 1 - self.window)
        keys, values = k[:, :, first:], v[:, :, first:]
        scores = torch.einsum("bgrld,bgsd->bgrls", q * self.d**-0.5, keys)
        at = torch.arange(first, start + L, device=x.device)
        row = torch.arange(start, start + L, device=x.device)[:, None]
        seen = at <= row
        if self.window is not None:
            seen = seen & (at > row - self.window)
        scores = scores.where(seen, float("-inf"))
        out = torch.einsum("bgrls,bgsd->blgrd", scores.softmax(-1), values)
        return self.wo(out.reshape(B, L, -1)), [k, v]
