"""The reference against PyTorch's multi-head attention with the same weights."""

import torch
from reference.masked_mha import MultiHeadAttention
from torch import nn


def cases():
    """Yield a name, the reference's output and PyTorch's, (B, L, E) in float64."""
    own = MultiHeadAttention(33, 3).double()
    other = nn.MultiheadAttention(33, 3, batch_first=True, dtype=torch.float64)
    maps = (own.q_proj, own.k_proj, own.v_proj)
    other.in_proj_weight.copy_(torch.cat([m.weight for m in maps]))
    other.in_proj_bias.copy_(torch.cat([m.bias for m in maps]))
    other.out_proj.load_state_dict(own.out_proj.state_dict())

    q = torch.randn(2, 5, 33, dtype=torch.float64)
    k = torch.randn(2, 7, 33, dtype=torch.float64)
    v = torch.randn(2, 7, 33, dtype=torch.float64)
    mask = torch.rand(5, 7) < 0.6
    mask[:, 2] = True  # every query may attend to some key
    padding = torch.ones(2, 7, dtype=torch.bool)
    padding[1, 4:] = False
    # There a mask says what is blocked, and one of shape (L, S) is for every item.
    yield "MultiheadAttention", _output(own(q, k, v)), other(q, k, v)[0]
    yield (
        "MultiheadAttention with attn_mask",
        _output(own(q, k, v, mask)),
        other(q, k, v, attn_mask=~mask)[0],
    )
    yield (
        "MultiheadAttention with key_padding_mask",
        _output(own(q, k, v, padding[:, None, None])),
        other(q, k, v, key_padding_mask=~padding)[0],
    )


def _output(result):
    return result[0] if isinstance(result, tuple) else result
