# problem: sdpa
"""Attention as two einsums in a small class. It looks fine, and forgets to divide by √D."""

import torch
from torch import Tensor, nn


class ScaledDotProductAttention(nn.Module):
    """Called like the function of the contract."""

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        logits = torch.einsum("...ld,...sd->...ls", query, key)
        if mask is not None:
            logits = torch.where(mask.bool(), logits, float("-inf"))
        attention = logits.softmax(dim=-1)
        return torch.einsum("...ls,...sd->...ld", attention, value), attention
