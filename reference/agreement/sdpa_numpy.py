"""The reference against PyTorch's fused attention, whose masks say what may attend."""

import torch
from reference.sdpa_numpy import scaled_dot_product_attention
from torch.nn import functional


def cases():
    """Yield a name, the reference's output and PyTorch's, (B, H, L, Dv) in float64."""
    q = torch.randn(2, 3, 5, 11, dtype=torch.float64)
    k = torch.randn(2, 3, 7, 11, dtype=torch.float64)
    v = torch.randn(2, 3, 7, 13, dtype=torch.float64)
    mask = torch.rand(2, 1, 5, 7) < 0.4
    mask[..., 3] = False  # every query may attend to some key
    for name, blocked in (("", None), (" with a mask", mask)):
        given = None if blocked is None else blocked.numpy()
        own, _ = scaled_dot_product_attention(q.numpy(), k.numpy(), v.numpy(), given)
        open_ = None if blocked is None else ~blocked
        other = functional.scaled_dot_product_attention(q, k, v, attn_mask=open_)
        yield f"scaled_dot_product_attention{name}", torch.from_numpy(own), other
