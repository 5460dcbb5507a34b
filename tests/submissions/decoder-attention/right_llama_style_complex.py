# expect: accepted
# problem: decoder-attention
# Llama style: halves as complex numbers, groups by an expanded axis, mask by distances.
import math

import torch
import torch.nn as nn


def repeat_kv(x, n_rep):
    b, g, s, d = x.shape
    return x[:, :, None].expand(b, g, n_rep, s, d).reshape(b, g * n_rep, s, d)


class LlamaAttention(nn.Module):
    def __init__(self, hidden_size, num_attention_heads, num_key_value_heads, sliding_window=None):
        super().__init__()
        self.head_dim, rest = divmod(hidden_size, num_attention_heads)
        if rest or num_attention_heads % num_key_value_heads or self.head_dim % 2:
            raise ValueError("sizes do not fit")
        self.n_rep = num_attention_heads // num_key_value_heads
        self.sliding_window = sliding_window
        self.q_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.k_proj = nn.Linear(hidden_size, num_key_value_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(hidden_size, num_key_value_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(hidden_size, hidden_size, bias=False)

    def freqs_cis(self, start, length, device):
        inv = 1.0 / (10000.0 ** (torch.arange(0, self.head_dim, 2, device=device).float() / self.head_dim))
        angles = torch.outer(torch.arange(start, start + length, device=device).float(), inv)
        return torch.polar(torch.ones_like(angles), angles)

    def rotate(self, x, freqs):
        wide = x.float() if x.dtype in (torch.bfloat16, torch.float16) else x
        first, second = wide.chunk(2, -1)
        turned = torch.complex(first.contiguous(), second.contiguous()) * freqs
        return torch.cat([turned.real, turned.imag], dim=-1).to(x.dtype)

    def forward(self, hidden_states, past_key_value=None):
        b, n, _ = hidden_states.shape
        q, k, v = (
            p(hidden_states).view(b, n, -1, self.head_dim).transpose(1, 2)
            for p in (self.q_proj, self.k_proj, self.v_proj)
        )
        past = past_key_value[0].size(2) if past_key_value is not None else 0
        freqs = self.freqs_cis(past, n, hidden_states.device)
        q, k = self.rotate(q, freqs), self.rotate(k, freqs)
        if past_key_value is not None:
            k = torch.cat([past_key_value[0], k], dim=2)
            v = torch.cat([past_key_value[1], v], dim=2)
        total = past + n
        distance = torch.arange(past, total, device=q.device)[:, None] - torch.arange(total, device=q.device)
        hidden = distance < 0
        if self.sliding_window is not None:
            hidden |= distance >= self.sliding_window
        scores = torch.matmul(q, repeat_kv(k, self.n_rep).transpose(2, 3)) / math.sqrt(self.head_dim)
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores.float() if scores.dtype != torch.float64 else scores, dim=-1)
        out = torch.matmul(weights.to(q.dtype), repeat_kv(v, self.n_rep))
        return self.o_proj(out.transpose(1, 2).reshape(b, n, -1)), (k, v)
