# expect: accepted
# problem: dual-attention
"""The four terms (a) to (d) of the paper one by one, in a class, with a softmax of its own."""

import torch
from torch import nn


class TransformerXLAttention(nn.Module):
    def forward(self, query, key, value, pos_emb, u, v):
        if key.size(-1) != query.size(-1) or pos_emb.size(-1) != query.size(-1):
            raise ValueError("the head sizes differ")
        if not key.size(-2) == value.size(-2) == pos_emb.size(-2):
            raise ValueError("the lengths differ")
        d = query.size(-1)
        a = torch.matmul(query, key.transpose(2, 3))
        c = torch.matmul(u[:, None], key.transpose(2, 3))  # (B, H, 1, S)
        b = self.skew(torch.matmul(query, pos_emb.transpose(1, 2)))
        e = torch.matmul(v[:, None], pos_emb.transpose(1, 2))  # (H, 1, S)
        e = self.skew(e.expand(a.shape))
        logits = (a + b + c + e).div(d**0.5)
        hidden = torch.ones_like(logits[0, 0]).triu(logits.size(3) - logits.size(2) + 1).bool()
        logits = logits.masked_fill(hidden, float("-inf"))
        weights = (logits - logits.amax(-1, keepdim=True)).exp()
        return torch.matmul(weights / weights.sum(-1, keepdim=True), value)

    @staticmethod
    def skew(x):
        """Read the same numbers with rows that are one shorter."""
        batch, heads, rows, columns = x.shape
        x = torch.cat((x, x.new_zeros(batch, heads, rows, 1)), dim=-1).reshape(batch, heads, -1)
        x = x[..., rows - 1 : rows - 1 + rows * columns]
        return x.reshape(batch, heads, rows, columns)
