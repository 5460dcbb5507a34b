# expect: accepted
# problem: masked-mha
import math

import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    """One tensor for the four maps, and one for their biases."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model has to be a multiple of n_heads")
        self.n_heads = n_heads
        self.weight = nn.Parameter(torch.randn(4, d_model, d_model) / math.sqrt(d_model))
        self.bias = nn.Parameter(torch.randn(4, d_model))

    def _map(self, x: Tensor, index: int) -> Tensor:
        return x @ self.weight[index] + self.bias[index]

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None):
        b, e = query.shape[0], query.shape[-1]
        q, k, v = (
            self._map(x, i).view(b, -1, self.n_heads, e // self.n_heads).transpose(1, 2)
            for i, x in enumerate((query, key, value))
        )
        scores = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(e // self.n_heads)
        if mask is not None:
            scores = scores.masked_fill(~mask.bool(), -torch.inf)
        heads = torch.einsum("bhij,bhjd->bihd", torch.softmax(scores, -1), v)
        return self._map(heads.reshape(b, -1, e), 3)
