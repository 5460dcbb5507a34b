# expect: accepted
# problem: decoder-block
import torch
from torch import nn


class Heads(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        assert d_model % heads == 0
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, context, allowed):
        q, k, v = (
            f(t).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for f, t in ((self.q, x), (self.k, context), (self.v, context))
        )
        scores = q @ k.mT * q.shape[-1] ** -0.5
        if allowed is not None:
            scores = scores.masked_fill(allowed == 0, -torch.inf)
        return self.o((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class DecoderBlock(nn.Module):
    def __init__(self, d_model, heads, d_ff):
        super().__init__()
        self.unmasked_attention = Heads(d_model, heads)
        self.masked_attention = Heads(d_model, heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(3))

    def forward(self, x, memory, memory_mask=None):
        past = torch.ones(x.shape[1], x.shape[1], device=x.device).tril()
        x = self.norms[0](x + self.masked_attention(x, x, past))
        x = self.norms[1](x + self.unmasked_attention(x, memory, memory_mask))
        return self.norms[2](x + self.feed_forward(x))
