"""The reference against PyTorch's fused attention under a band of a mask, and against loops."""

import math

import torch
from reference.sliding_window import sliding_window_attention
from torch.nn import functional


def cases():
    """Yield a name, the reference's output and another's, (B, H, L, D) in float64."""
    q, k, v = (torch.randn(2, 3, 13, 5, dtype=torch.float64) for _ in range(3))
    distance = torch.arange(13).unsqueeze(1) - torch.arange(13)  # (L, L), i − j
    for window in (1, 2, 5, 12, 13, 40):
        band = (distance >= 0) & (distance < window)
        own = sliding_window_attention(q, k, v, window)
        fused = functional.scaled_dot_product_attention(q, k, v, attn_mask=band)
        yield f"scaled_dot_product_attention in a band of {window}", own, fused
    yield "a loop over the queries", sliding_window_attention(q, k, v, 4), _by_loop(q, k, v, 4)


def _by_loop(q, k, v, window):
    rows = []
    for i in range(q.shape[2]):
        near = slice(max(0, i - window + 1), i + 1)
        scores = (q[:, :, i : i + 1] * k[:, :, near]).sum(-1) / math.sqrt(q.shape[3])
        exponentials = torch.exp(scores)
        weights = exponentials / exponentials.sum(-1, keepdim=True)
        rows.append((weights.unsqueeze(-1) * v[:, :, near]).sum(2))
    return torch.stack(rows, dim=2)
