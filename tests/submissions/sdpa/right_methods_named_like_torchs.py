# expect: accepted
# problem: sdpa
# own methods with the names of torch's functions, called by class, by super() and by type(self)
import math

import torch
from torch import nn


class AttentionBase(nn.Module):
    @staticmethod
    def scaled_dot_product_attention(weights, v):
        return torch.matmul(weights, v)

    def flash_attention(self, q, k, mask):
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        return torch.softmax(scores, dim=-1)


class ScaledDotProductAttention(AttentionBase):
    def flash_attention(self, q, k, mask):
        return super().flash_attention(q, k, mask)

    @classmethod
    def efficient_attention(cls, weights, v):
        return cls.scaled_dot_product_attention(weights, v)

    def forward(self, q, k, v, mask=None):
        weights = self.flash_attention(q, k, mask)
        out = AttentionBase.scaled_dot_product_attention(weights, v)
        assert out.shape == type(self).efficient_attention(weights, v).shape
        return out, weights
