# problem: split-merge-heads
"""Splitting features into heads, and merging heads into features."""
# B batch  L length  H heads  D head size  E width, E = H·D

import torch
from torch import Tensor


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Return the heads of `x`, (B, L, E) -> (B, H, L, D).

    Head h holds features h·D … h·D+D−1. A `num_heads` that does not divide E raises.
    """
    # TODO
    raise NotImplementedError


def merge_heads(x: Tensor) -> Tensor:
    """Return the features of heads `x`, (B, H, L, D) -> (B, L, E): undo `split_heads`."""
    # TODO
    raise NotImplementedError
