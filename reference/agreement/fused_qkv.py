"""The reference against PyTorch's multi-head attention, whose fused map has the same layout."""

import torch
from reference.fused_qkv import FusedSelfAttention
from torch import nn


def cases():
    """Yield a name, the reference's output and PyTorch's, (B, L, E) in float64."""
    own = FusedSelfAttention(33, 3).double()
    other = nn.MultiheadAttention(33, 3, batch_first=True, dtype=torch.float64)
    other.in_proj_weight.copy_(own.qkv_proj.weight)
    other.in_proj_bias.copy_(own.qkv_proj.bias)
    other.out_proj.load_state_dict(own.out_proj.state_dict())

    x = torch.randn(2, 7, 33, dtype=torch.float64)
    mask = torch.rand(7, 7) < 0.6
    mask[:, 2] = True  # every query may attend to some key
    padding = torch.ones(2, 7, dtype=torch.bool)
    padding[1, 4:] = False
    # There a mask says what is blocked, and one of shape (L, L) is for every item.
    yield "MultiheadAttention", _output(own(x)), other(x, x, x)[0]
    yield (
        "MultiheadAttention with attn_mask",
        _output(own(x, mask)),
        other(x, x, x, attn_mask=~mask)[0],
    )
    yield (
        "MultiheadAttention with key_padding_mask",
        _output(own(x, padding[:, None, None])),
        other(x, x, x, key_padding_mask=~padding)[0],
    )


def _output(result):
    return result[0] if isinstance(result, tuple) else result
