"""The reference against PyTorch's multi-head attention, and against sequences without padding."""

import torch
from reference.padding_mask import MultiHeadAttention
from torch import nn


def cases():
    """Yield a name, the reference's output and another's, (B, L, E) in float64."""
    own = MultiHeadAttention(33, 3).double()
    other = nn.MultiheadAttention(33, 3, batch_first=True, dtype=torch.float64)
    maps = (own.q_proj, own.k_proj, own.v_proj)
    other.in_proj_weight.copy_(torch.cat([m.weight for m in maps]))
    other.in_proj_bias.copy_(torch.cat([m.bias for m in maps]))
    other.out_proj.load_state_dict(own.out_proj.state_dict())

    x = torch.randn(3, 7, 33, dtype=torch.float64)
    mask = torch.tensor([[1] * 7, [1] * 4 + [0] * 3, [0] * 5 + [1] * 2])
    yield "MultiheadAttention", _output(own(x)), other(x, x, x)[0]
    yield (
        "MultiheadAttention with key_padding_mask",
        _output(own(x, mask)),
        other(x, x, x, key_padding_mask=mask == 0)[0],
    )
    alone = [_output(own(x[i : i + 1, kept])) for i, kept in enumerate(mask.bool())]  # (1, n, E)
    yield (
        "each sequence alone, its padding cut off",
        _output(own(x, mask))[mask.bool()],
        torch.cat(alone, dim=1)[0],
    )


def _output(result):
    return result[0] if isinstance(result, tuple) else result
