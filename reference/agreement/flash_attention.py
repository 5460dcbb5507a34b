"""The reference against PyTorch's fused attention."""

import torch
from reference.flash_attention import flash_attention
from torch.nn import functional


def cases():
    """Yield a name, the reference's output and PyTorch's, (B, H, L, Dv) in float64."""
    q = torch.randn(2, 3, 17, 11, dtype=torch.float64)
    k = torch.randn(2, 3, 23, 11, dtype=torch.float64)
    v = torch.randn(2, 3, 23, 13, dtype=torch.float64)
    for block_size in (1, 4, 23, 64):
        own = flash_attention(q, k, v, block_size)
        other = functional.scaled_dot_product_attention(q, k, v)
        yield f"scaled_dot_product_attention, blocks of {block_size}", own, other
        own = flash_attention(k, k, v, block_size, causal=True)
        other = functional.scaled_dot_product_attention(k, k, v, is_causal=True)
        yield f"scaled_dot_product_attention, causal, blocks of {block_size}", own, other
