"""The reference against PyTorch's fused attention, to which the sink is a key without a value."""

import torch
from reference.sink_attention import sink_attention
from torch.nn import functional

EPS = 1e-6


def cases():
    """Yield a name, the reference's output and another's, (B, H, L, D) in float64."""
    for groups, length, keys, window in (
        (6, 7, 7, None),
        (2, 7, 11, 4),
        (1, 1, 9, 3),
        (3, 9, 5, 2),
    ):
        q = torch.randn(2, 6, length, 5, dtype=torch.float64)
        k, v = (torch.randn(2, groups, keys, 5, dtype=torch.float64) for _ in range(2))
        sinks = torch.randn(6, dtype=torch.float64)
        name = f"{groups} groups, {length} of {keys} positions, a window of {window}"
        own = sink_attention(q, k, v, sinks, window)
        yield f"scaled_dot_product_attention, {name}", own, _fused(q, k, v, sinks, window)
        weights = torch.randn(2, 5, dtype=torch.float64)
        own = sink_attention(q, k, v, sinks, window, *weights)
        q, k = (functional.rms_norm(x, (5,), w, EPS) for x, w in zip((q, k), weights, strict=True))
        yield f"rms_norm, then the same, {name}", own, _fused(q, k, v, sinks, window)


def _fused(q, k, v, sinks, window):
    """Append a key and a value of zeros, whose score is the sink by way of an additive mask."""
    length, keys = q.shape[2], k.shape[2]
    zero = torch.zeros_like(k[:, :, :1])
    bias = torch.full((1, q.shape[1], length, keys + 1), -torch.inf, dtype=q.dtype)
    for i in range(length):
        last = keys - length + i
        first = 0 if window is None else max(0, last - window + 1)
        bias[..., i, first : max(0, last + 1)] = 0.0
    bias[..., -1] = sinks.view(1, -1, 1)
    k, v = torch.cat((k, zero), 2), torch.cat((v, zero), 2)
    return functional.scaled_dot_product_attention(q, k, v, attn_mask=bias, enable_gqa=True)
