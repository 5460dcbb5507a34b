# expect: accepted
# problem: mhsa
from __future__ import annotations

import torch
from torch import Tensor, nn


class MultiHeadSelfAttention(nn.Module):
    d_model: int
    num_heads: int

    def __init__(self, *, d_model: int, num_heads: int, device=None, dtype=None) -> None:
        super().__init__()
        factory = {"device": device, "dtype": dtype}
        if d_model <= 0 or num_heads <= 0 or d_model % num_heads:
            raise ValueError(f"{d_model=} {num_heads=}")
        self.d_model, self.num_heads = d_model, num_heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * d_model, d_model, **factory))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * d_model, **factory))
        self.out_proj = nn.Linear(d_model, d_model, **factory)
        nn.init.xavier_uniform_(self.in_proj_weight)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        batch, length, _ = x.shape
        qkv = nn.functional.linear(x, self.in_proj_weight, self.in_proj_bias)
        q, k, v = (t.reshape(batch, length, self.num_heads, -1).transpose(1, 2) for t in qkv.chunk(3, -1))
        wide = torch.promote_types(x.dtype, torch.float32)
        logits = torch.matmul(q.to(wide), k.to(wide).transpose(2, 3)).div_(q.shape[-1] ** 0.5)
        if mask is not None:
            logits.masked_fill_(mask == 0, -torch.inf)
        weights = logits.softmax(-1).to(x.dtype)
        return self.out_proj(torch.matmul(weights, v).transpose(1, 2).reshape(x.shape)), weights
