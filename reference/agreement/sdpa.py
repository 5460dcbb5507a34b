"""The reference against PyTorch's fused attention."""

import torch
from reference.sdpa import scaled_dot_product_attention
from torch.nn import functional


def cases():
    """Yield a name, the reference's output and PyTorch's, (B, H, L, Dv) in float64."""
    q = torch.randn(2, 3, 5, 11, dtype=torch.float64)
    k = torch.randn(2, 3, 7, 11, dtype=torch.float64)
    v = torch.randn(2, 3, 7, 13, dtype=torch.float64)
    mask = torch.rand(2, 1, 5, 7) < 0.6
    mask[..., 3] = True  # every query may attend to some key
    for name, given in (("", None), (" with a mask", mask)):
        own, _ = scaled_dot_product_attention(q, k, v, given)
        other = functional.scaled_dot_product_attention(q, k, v, attn_mask=given)
        yield f"scaled_dot_product_attention{name}", own, other
