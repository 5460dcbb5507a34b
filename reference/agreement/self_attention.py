"""The reference against PyTorch's multi-head attention with the same weights and masks."""

import torch
from reference.self_attention import SelfAttention
from torch import nn

B, L, E, H = 2, 7, 33, 3


def cases():
    """Yield a name, the reference's result and PyTorch's, in float64."""
    x = torch.randn(B, L, E, dtype=torch.float64)
    padding = torch.zeros(B, L, dtype=torch.bool)
    padding[1, 4:] = True
    mask = torch.rand(L, L) < 0.4
    mask[:, 0] = False  # every query may attend to some key
    masks = torch.rand(B, H, L, L) < 0.4
    masks[..., 0] = False
    added = torch.randn(L, L, dtype=torch.float64)
    later = torch.ones(L, L, dtype=torch.bool).triu(1)

    own, other = _pair(causal=False)
    yield "no mask", own(x)[0], other(x, x, x)[0]
    yield "padding", own(x, padding)[0], other(x, x, x, key_padding_mask=padding)[0]
    yield "boolean mask", own(x, None, mask)[0], other(x, x, x, attn_mask=mask)[0]
    yield "float mask", own(x, None, added)[0], other(x, x, x, attn_mask=added)[0]
    yield (
        "padding and a float mask",
        own(x, padding, added)[0],
        other(x, x, x, attn_mask=added, key_padding_mask=_additive(padding))[0],
    )
    yield (
        "padding and a mask for each head",
        own(x, padding, masks)[0],
        other(x, x, x, attn_mask=masks.flatten(0, 1), key_padding_mask=padding)[0],
    )
    yield (
        "weights",
        own(x, padding, mask, need_weights=True)[1],
        other(x, x, x, attn_mask=mask, key_padding_mask=padding, average_attn_weights=False)[1],
    )

    own, other = _pair(causal=True, bias=False)
    yield (
        "causal without biases",
        own(x)[0],
        other(x, x, x, attn_mask=later, is_causal=True, need_weights=False)[0],
    )
    yield (
        "causal, padding and a mask",
        own(x, padding, mask)[0],
        other(x, x, x, attn_mask=mask | later, key_padding_mask=padding)[0],
    )


def _pair(*, causal, bias=True):
    """Return the reference and PyTorch's layer with the same weights."""
    own = SelfAttention(E, H, bias=bias, causal=causal).double().eval()
    other = nn.MultiheadAttention(E, H, bias=bias, batch_first=True, dtype=torch.float64).eval()
    maps = (own.q_proj, own.k_proj, own.v_proj)
    other.in_proj_weight.copy_(torch.cat([m.weight for m in maps]))
    if bias:
        other.in_proj_bias.copy_(torch.cat([m.bias for m in maps]))
    other.out_proj.load_state_dict(own.out_proj.state_dict())
    return own, other


def _additive(mask):
    return torch.zeros(mask.shape, dtype=torch.float64).masked_fill(mask, -torch.inf)
