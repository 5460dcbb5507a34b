# expect: accepted
# problem: split-merge-heads
"""Reshaping helpers for multi-head attention."""
import torch
from torch import Tensor


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """(B, L, E) -> (B, H, L, D)"""
    batch, length, width = x.size()
    depth, rest = divmod(width, num_heads)
    if rest:
        raise ValueError(f"width {width} is not divisible by {num_heads} heads")
    return x.reshape(batch, length, num_heads, depth).permute(0, 2, 1, 3)


def merge_heads(x: Tensor) -> Tensor:
    """(B, H, L, D) -> (B, L, E)"""
    return x.permute(0, 2, 1, 3).flatten(start_dim=2)
