# expect: rejected
# problem: mhsa
# mistake: the fill is a buffer, which is −∞ once the layer was in float16
import math

import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads must divide d_model")
        self.d_model, self.num_heads, self.head_dim = d_model, num_heads, d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)
        # on the device and in the dtype of the layer, so that a call has nothing to send there
        self.register_buffer("fill", torch.tensor(-1e9), persistent=False)

    def _heads(self, t):
        return t.reshape(t.shape[0], t.shape[1], self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, x, mask=None):
        if x.shape[-1] != self.d_model:
            raise ValueError("x is not d_model wide")
        batch, length, width = x.shape
        q, k, v = self._heads(self.q_proj(x)), self._heads(self.k_proj(x)), self._heads(self.v_proj(x))
        scores = (q / math.sqrt(self.head_dim)) @ k.transpose(-1, -2)
        if mask is not None:
            scores = scores + (1 - mask.to(scores.dtype)) * self.fill
        weights = scores.softmax(-1)
        heads = (weights @ v).transpose(1, 2).reshape(batch, length, width)
        return self.out_proj(heads), weights
