# expect: accepted
# problem: sparse-attention
import numpy as np
import torch
import torch.nn as nn
from einops import einsum, rearrange


def build_sparse_mask(seq_len: int, window_size: int, stride: int, n_global: int) -> torch.Tensor:
    assert stride > 0, "stride must be at least 1"
    pos = np.arange(seq_len)
    rel = pos[:, None] - pos[None, :]
    local = np.abs(rel) <= window_size
    strided = np.mod(rel, stride) == 0
    is_global = pos < n_global
    glob = np.logical_or(is_global[:, None], is_global[None, :])
    return torch.from_numpy(local | strided | glob)


class SparseAttention(nn.Module):
    def __init__(self, dropout: float = 0.0):
        super().__init__()
        self.drop = nn.Dropout(dropout)

    def forward(self, query, key, value, attn_mask):
        sim = einsum(query, key, "b h i d, b h j d -> b h i j") / query.shape[-1] ** 0.5
        keep = rearrange(attn_mask, "i j -> 1 1 i j")
        sim = torch.where(keep, sim, torch.finfo(sim.dtype).min)
        probs = self.drop(sim.softmax(dim=-1))
        return einsum(probs, value, "b h i j, b h j d -> b h i d"), probs
