# expect: accepted
# problem: sliding-window
import torch
import torch.nn as nn
from einops import einsum


class SlidingWindowAttention(nn.Module):
    def __init__(self, block_size: int = 128, dropout: float = 0.0):
        super().__init__()
        self.block_size = block_size
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, window_size):
        n = queries.shape[-2]
        outputs = []
        for start in range(0, n, self.block_size):
            stop = min(start + self.block_size, n)
            left = max(0, start - window_size + 1)
            qs, ks, vs = queries[:, :, start:stop], keys[:, :, left:stop], values[:, :, left:stop]
            dots = einsum(qs, ks, "b h i d, b h j d -> b h i j") / queries.shape[-1] ** 0.5
            qi = torch.arange(start, stop, device=queries.device).unsqueeze(1)
            kj = torch.arange(left, stop, device=queries.device).unsqueeze(0)
            keep = (kj <= qi) & (kj > qi - window_size)
            dots = torch.where(keep, dots, torch.full_like(dots, float("-inf")))
            probs = self.dropout(dots.softmax(-1))
            outputs.append(einsum(probs, vs, "b h i j, b h j d -> b h i d"))
        return torch.cat(outputs, dim=-2)
