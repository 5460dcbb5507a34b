# expect: accepted
# problem: mqa
import torch
import torch.nn as nn


class MultiQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.d_head, rest = divmod(d_model, n_heads)
        if rest:
            raise ValueError("no")
        self.queries = nn.ModuleList([nn.Linear(d_model, self.d_head) for _ in range(n_heads)])
        self.key = nn.Linear(d_model, self.d_head)
        self.value = nn.Linear(d_model, self.d_head)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        k, v = self.key(x), self.value(x)
        outs = []
        for i, query in enumerate(self.queries):
            s = query(x) @ k.transpose(1, 2) / self.d_head**0.5
            if mask is not None:
                m = mask if mask.dim() == 2 else mask[:, min(i, mask.shape[1] - 1)]
                s = s.masked_fill(m == 0, float("-inf"))
            p = torch.exp(s - torch.logsumexp(s, -1, keepdim=True))
            outs.append(p @ v)
        return self.out(torch.cat(outs, dim=-1))
