# expect: rejected
# problem: cross-attention
# mistake: the place of the last open key is computed in the dtype of the mask
import math

import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, context_dim):
        super().__init__()
        assert embed_dim % num_heads == 0, "num_heads must divide embed_dim"
        self.num_heads, self.scale = num_heads, (embed_dim // num_heads) ** -0.5
        self.W_q = nn.Linear(embed_dim, embed_dim)
        self.W_k = nn.Linear(context_dim, embed_dim)
        self.W_v = nn.Linear(context_dim, embed_dim)
        self.W_o = nn.Linear(embed_dim, embed_dim)

    def _heads(self, t):
        return t.reshape(t.shape[0], t.shape[1], self.num_heads, -1).transpose(1, 2)

    def forward(self, x, context, context_mask=None):
        assert x.shape[0] == context.shape[0], "x and context differ in the number of items"
        if context_mask is not None:
            assert context_mask.shape == context.shape[:2], "context_mask is not (B, S)"
            # Batches are padded to their longest text or beyond: leave out what is padding in every item.
            S = context.shape[1]
            last = int((context_mask * torch.arange(S, device=context_mask.device)).max())
            context, context_mask = context[:, : last + 1], context_mask[:, : last + 1]
            context = torch.where(context_mask.bool()[..., None], context, torch.zeros_like(context))
        q, k, v = self._heads(self.W_q(x)), self._heads(self.W_k(context)), self._heads(self.W_v(context))
        scores = torch.matmul(q, k.transpose(-2, -1)) * self.scale
        if context_mask is not None:
            scores = scores.masked_fill(context_mask[:, None, None, :] == 0, -1e9)
        output = torch.matmul(torch.softmax(scores, -1), v)
        return self.W_o(output.transpose(1, 2).reshape(x.shape[0], x.shape[1], -1))
