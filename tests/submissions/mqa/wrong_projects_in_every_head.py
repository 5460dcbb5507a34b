# expect: rejected
# problem: mqa
# mistake: the loop over the heads projects keys and values again each time
# diagnosis: projected-for-each-head
import torch
import torch.nn as nn


class MultiQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        assert d_model % n_heads == 0
        self.d = d_model // n_heads
        self.queries = nn.ModuleList([nn.Linear(d_model, self.d) for _ in range(n_heads)])
        self.key = nn.Linear(d_model, self.d)
        self.value = nn.Linear(d_model, self.d)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        outs = []
        for i, query in enumerate(self.queries):
            s = query(x) @ self.key(x).transpose(1, 2) / self.d**0.5
            if mask is not None:
                m = mask if mask.dim() == 2 else mask[:, min(i, mask.shape[1] - 1)]
                s = s.masked_fill(m == 0, float("-inf"))
            outs.append(s.softmax(-1) @ self.value(x))
        return self.out(torch.cat(outs, dim=-1))
