# expect: accepted
# problem: decoder-block
import torch
from torch import nn
from torch.nn import functional as F


class Head(nn.Module):
    """one head; reads from itself or from a context"""

    def __init__(self, n_embd, head_size, causal):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.causal = causal

    def forward(self, x, context, mask):
        wei = self.query(x) @ self.key(context).transpose(-2, -1) * self.key.out_features**-0.5
        T = x.shape[1]
        if self.causal:
            rows = []
            for t in range(T):  # one query after the other
                seen = F.softmax(wei[:, t : t + 1, : t + 1], dim=-1)
                rows.append(seen @ self.value(context[:, : t + 1]))
            return torch.cat(rows, dim=1)
        if mask is not None:
            wei = wei.masked_fill(mask[:, 0] == 0, float("-inf"))
        return F.softmax(wei, dim=-1) @ self.value(context)


class MultiHead(nn.Module):
    def __init__(self, n_embd, n_head, causal):
        super().__init__()
        self.heads = nn.ModuleList([Head(n_embd, n_embd // n_head, causal) for _ in range(n_head)])
        self.proj = nn.Linear(n_embd, n_embd)

    def forward(self, x, context, mask=None):
        return self.proj(torch.cat([h(x, context, mask) for h in self.heads], dim=-1))


class DecoderLayer(nn.Module):
    def __init__(self, n_embd, n_head, d_ff):
        super().__init__()
        assert n_embd % n_head == 0
        self.sa = MultiHead(n_embd, n_head, causal=True)
        self.ca = MultiHead(n_embd, n_head, causal=False)
        self.ffwd = nn.Sequential(nn.Linear(n_embd, d_ff), nn.ReLU(), nn.Linear(d_ff, n_embd), nn.Dropout(0.2))
        self.ln = nn.ModuleList(nn.LayerNorm(n_embd) for _ in range(3))

    def forward(self, x, memory, memory_mask=None):
        x = self.ln[0](x + self.sa(x, x))
        x = self.ln[1](x + self.ca(x, memory, memory_mask))
        return self.ln[2](x + self.ffwd(x))
