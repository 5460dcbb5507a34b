# expect: accepted
# problem: linear-attention
import torch
from torch import nn, Tensor


class LinearAttention(nn.Module):
    """Chunked: quadratic inside a chunk, one state for all before it."""

    def __init__(self, chunk_size: int = 64):
        super().__init__()
        self.chunk_size = chunk_size
        self.act = nn.ELU()

    def forward(self, query: Tensor, key: Tensor, value: Tensor, causal: bool = False):
        query, key = self.act(query) + 1.0, self.act(key) + 1.0
        # the values get a column of ones: its sums are the denominators
        ones = value.new_ones(*value.shape[:-1], 1)
        value = torch.cat([value, ones], dim=-1)
        if not causal:
            out = query @ (key.mT @ value)
            return out[..., :-1] / out[..., -1:]
        state = value.new_zeros(*key.shape[:2], key.shape[-1], value.shape[-1])
        outs = []
        size = self.chunk_size
        for qc, kc, vc in zip(query.split(size, 2), key.split(size, 2), value.split(size, 2)):
            outs.append(qc @ state + (qc @ kc.mT).tril() @ vc)
            state = state + kc.mT @ vc
        out = torch.cat(outs, dim=2)
        return out[..., :-1] / out[..., -1:]
