"""The reference against einops."""

import torch
from einops import rearrange
from reference.split_merge_heads import merge_heads, split_heads


def cases():
    """Yield a name, the reference's result and that of einops, in float64."""
    x = torch.randn(2, 5, 21, dtype=torch.float64)
    heads = torch.randn(2, 3, 5, 7, dtype=torch.float64)
    yield "einops, splitting", split_heads(x, 3), rearrange(x, "b l (h d) -> b h l d", h=3)
    yield "einops, merging", merge_heads(heads), rearrange(heads, "b h l d -> b l (h d)")
