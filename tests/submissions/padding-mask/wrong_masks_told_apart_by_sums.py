# expect: rejected
# problem: padding-mask
# mistake: sequences whose padding agrees in number, ends and sum of places share one mask
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, hidden_size, num_heads):
        super().__init__()
        if hidden_size % num_heads:
            raise ValueError("num_heads must divide hidden_size")
        self.hidden_size, self.num_heads = hidden_size, num_heads
        self.q_proj = nn.Linear(hidden_size, hidden_size)
        self.k_proj = nn.Linear(hidden_size, hidden_size)
        self.v_proj = nn.Linear(hidden_size, hidden_size)
        self.out_proj = nn.Linear(hidden_size, hidden_size)

    @staticmethod
    def _bias(mask, dtype):
        """One row for each kind of padding, and for each sequence the number of its row."""
        rows, kinds, which = [], {}, []
        for line in (mask != 0):
            place = line.nonzero().flatten().tolist()
            kind = (len(place), sum(place), place[0] if place else -1, place[-1] if place else -1)
            if kind not in kinds:
                kinds[kind] = len(rows)
                rows.append(torch.zeros(line.shape, dtype=dtype, device=line.device)
                            .masked_fill(~line, -1e9 if dtype != torch.float16 else -6e4))
            which.append(kinds[kind])
        return torch.stack(rows)[which]

    def forward(self, hidden_state, attention_mask=None):
        B, L, E = hidden_state.shape
        if E != self.hidden_size:
            raise ValueError("hidden_state must be E wide")
        H, D = self.num_heads, E // self.num_heads
        q, k, v = (m(hidden_state).view(B, L, H, D).transpose(1, 2)
                   for m in (self.q_proj, self.k_proj, self.v_proj))
        scores = q @ k.transpose(-1, -2) / math.sqrt(D)
        if attention_mask is not None:
            if attention_mask.shape != (B, L):
                raise ValueError("attention_mask must be (B, L)")
            scores = scores + self._bias(attention_mask, scores.dtype)[:, None, None]
        out = torch.softmax(scores, dim=-1) @ v
        return self.out_proj(out.transpose(1, 2).reshape(B, L, E))
