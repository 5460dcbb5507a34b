# expect: rejected
# problem: decoder-attention
# mistake: a rolling cache of W positions, whose length then serves as the next position
# diagnosis: cache-cut-to-window
import torch
import torch.nn as nn
import torch.nn.functional as F


class GQAWithKVCache(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None):
        super().__init__()
        assert d_model % num_heads == 0 and num_heads % num_kv_heads == 0
        self.d_k = d_model // num_heads
        assert self.d_k % 2 == 0
        self.num_heads, self.num_kv_heads, self.window = num_heads, num_kv_heads, window
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d_k)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d_k)
        self.W_o = nn.Linear(d_model, d_model)

    def rope(self, x, offset):
        theta = 10000.0 ** (-torch.arange(0, self.d_k, 2, device=x.device) / self.d_k)
        m = torch.arange(offset, offset + x.size(2), device=x.device)
        angle = m.unsqueeze(1) * theta
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        x1, x2 = x.split(self.d_k // 2, dim=-1)
        return torch.cat([x1 * cos - x2 * sin, x1 * sin + x2 * cos], dim=-1)

    def forward(self, x, cache=None):
        B, L, _ = x.shape
        q = self.W_q(x).view(B, L, self.num_heads, self.d_k).transpose(1, 2)
        k = self.W_k(x).view(B, L, self.num_kv_heads, self.d_k).transpose(1, 2)
        v = self.W_v(x).view(B, L, self.num_kv_heads, self.d_k).transpose(1, 2)
        T = 0 if cache is None else cache[0].size(2)
        q, k = self.rope(q, T), self.rope(k, T)
        if cache is not None:
            k = torch.cat([cache[0], k], dim=2)
            v = torch.cat([cache[1], v], dim=2)
        r = self.num_heads // self.num_kv_heads
        scores = q @ k.repeat_interleave(r, 1).transpose(-2, -1) / self.d_k**0.5
        pos_q = torch.arange(T, T + L, device=x.device).unsqueeze(1)
        pos_k = torch.arange(T + L, device=x.device)
        blocked = pos_k > pos_q
        if self.window is not None:
            blocked |= pos_k < pos_q - self.window + 1
        scores = scores.masked_fill(blocked, float("-inf"))
        out = (F.softmax(scores, dim=-1) @ v.repeat_interleave(r, 1)).transpose(1, 2)
        if self.window is not None:
            k, v = k[:, :, -self.window :], v[:, :, -self.window :]
        return self.W_o(out.reshape(B, L, -1)), (k, v)
