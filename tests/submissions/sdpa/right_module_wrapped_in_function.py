# expect: accepted
# problem: sdpa
from __future__ import annotations

from math import sqrt

import torch
from torch import nn


class _Core(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("scale", torch.tensor(1 / sqrt(width)))

    def forward(self, q, k, v, blocked):
        logits = torch.matmul(q * self.scale.to(q.dtype), k.mT)
        if blocked is not None:
            logits = torch.where(blocked, torch.full_like(logits, float("-inf")), logits)
        probabilities = nn.functional.log_softmax(logits, dim=-1).exp()
        return torch.matmul(probabilities, v), probabilities


def scaled_dot_product(q, k, v, mask=None):
    """q、k、v 为多头张量；mask 中 0 表示屏蔽"""
    blocked = None if mask is None else mask.eq(0)
    return _Core(q.shape[-1])(q, k, v, blocked)
