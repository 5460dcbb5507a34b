"""The reference against PyTorch's multi-head attention with keys and values of another width."""

import torch
from reference.cross_attention import CrossAttention
from torch import nn


def cases():
    """Yield a name, the reference's output and another's, (B, L, E) in float64."""
    own = CrossAttention(33, 3, 26).double()
    other = nn.MultiheadAttention(33, 3, kdim=26, vdim=26, batch_first=True, dtype=torch.float64)
    other.q_proj_weight.copy_(own.q_proj.weight)
    other.k_proj_weight.copy_(own.k_proj.weight)
    other.v_proj_weight.copy_(own.v_proj.weight)
    maps = (own.q_proj, own.k_proj, own.v_proj)
    other.in_proj_bias.copy_(torch.cat([m.bias for m in maps]))
    other.out_proj.load_state_dict(own.out_proj.state_dict())

    x = torch.randn(3, 5, 33, dtype=torch.float64)
    context = torch.randn(3, 7, 26, dtype=torch.float64)
    mask = torch.tensor([[1] * 7, [1] * 4 + [0] * 3, [0] * 5 + [1] * 2])
    yield (
        "MultiheadAttention with kdim and vdim",
        _output(own(x, context)),
        _call(other, x, context),
    )
    yield (
        "MultiheadAttention with key_padding_mask",
        _output(own(x, context, mask)),
        _call(other, x, context, key_padding_mask=mask == 0),
    )
    alone = [
        _output(own(x[i : i + 1], context[i : i + 1, kept])) for i, kept in enumerate(mask.bool())
    ]
    yield (
        "each item alone, the padding of its context cut off",
        _output(own(x, context, mask)),
        torch.cat(alone),
    )


def _call(other, x, context, **options):
    return other(x, context, context, **options)[0]


def _output(result):
    return result[0] if isinstance(result, tuple) else result
