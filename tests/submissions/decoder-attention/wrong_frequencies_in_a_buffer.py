# expect: rejected
# problem: decoder-attention
# mistake: the frequencies stand in a buffer, which a layer in bfloat16 holds rounded
# diagnosis: frequencies-rounded
import math

import torch
import torch.nn as nn


class MistralAttention(nn.Module):
    def __init__(self, hidden_size, num_heads, num_kv_heads, sliding_window=None):
        super().__init__()
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.head_dim = hidden_size // num_heads
        if self.head_dim * num_heads != hidden_size or num_heads % num_kv_heads:
            raise ValueError("hidden_size must be divisible by num_heads")
        if self.head_dim % 2:
            raise ValueError("RoPE needs an even head_dim")
        self.sliding_window = sliding_window
        self.q_proj = nn.Linear(hidden_size, num_heads * self.head_dim)
        self.k_proj = nn.Linear(hidden_size, num_kv_heads * self.head_dim)
        self.v_proj = nn.Linear(hidden_size, num_kv_heads * self.head_dim)
        self.o_proj = nn.Linear(num_heads * self.head_dim, hidden_size)
        inv_freq = 1.0 / (10000 ** (torch.arange(0, self.head_dim, 2).float() / self.head_dim))
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    def forward(self, x, cache=None):
        bsz, q_len, _ = x.size()
        q = self.q_proj(x).view(bsz, q_len, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.k_proj(x).view(bsz, q_len, self.num_kv_heads, self.head_dim).transpose(1, 2)
        v = self.v_proj(x).view(bsz, q_len, self.num_kv_heads, self.head_dim).transpose(1, 2)
        past = cache[0].shape[-2] if cache is not None else 0
        position_ids = torch.arange(past, past + q_len, device=x.device)
        freqs = position_ids[:, None].float() * self.inv_freq.float()
        emb = torch.cat((freqs, freqs), dim=-1)
        cos, sin = emb.cos().to(x.dtype), emb.sin().to(x.dtype)
        rotate_half = lambda t: torch.cat((-t.chunk(2, -1)[1], t.chunk(2, -1)[0]), dim=-1)
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        if cache is not None:
            k, v = torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)
        n_rep = self.num_heads // self.num_kv_heads
        keys, values = k.repeat_interleave(n_rep, dim=1), v.repeat_interleave(n_rep, dim=1)
        kv = torch.arange(past + q_len, device=x.device)
        hidden = kv > position_ids[:, None]
        if self.sliding_window is not None:
            hidden = hidden | (kv <= position_ids[:, None] - self.sliding_window)
        weights = torch.matmul(q, keys.transpose(2, 3)) / math.sqrt(self.head_dim)
        weights = weights.masked_fill(hidden, float("-inf")).softmax(dim=-1)
        out = torch.matmul(weights, values).transpose(1, 2).reshape(bsz, q_len, -1)
        return self.o_proj(out), (k, v)
