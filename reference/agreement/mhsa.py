"""The reference against PyTorch's multi-head attention, and against sums over single positions."""

import math

import torch
from reference.mhsa import MultiHeadSelfAttention
from torch import nn


def cases():
    """Yield a name, the reference's output and that of another, (B, L, E) in float64."""
    own = MultiHeadSelfAttention(33, 3).double()
    other = nn.MultiheadAttention(33, 3, batch_first=True, dtype=torch.float64)
    maps = (own.q_proj, own.k_proj, own.v_proj)
    other.in_proj_weight.copy_(torch.cat([m.weight for m in maps]))
    other.in_proj_bias.copy_(torch.cat([m.bias for m in maps]))
    other.out_proj.load_state_dict(own.out_proj.state_dict())

    x = torch.randn(2, 7, 33, dtype=torch.float64)
    causal = torch.ones(7, 7, dtype=torch.bool).tril()
    padding = torch.ones(2, 7, dtype=torch.bool)
    padding[1, 4:] = False
    # There a mask says what is blocked, and one of shape (L, L) is for every item.
    yield "MultiheadAttention", _output(own(x)), other(x, x, x)[0]
    yield (
        "MultiheadAttention with attn_mask",
        _output(own(x, causal)),
        other(x, x, x, attn_mask=~causal)[0],
    )
    yield (
        "MultiheadAttention with key_padding_mask",
        _output(own(x, padding[:, None, None])),
        other(x, x, x, key_padding_mask=~padding)[0],
    )
    yield "one position after the other", _output(own(x, causal)), _by_hand(own, x, causal)


def _by_hand(layer, x, mask):
    """Return the output from single scores, without any axis for heads."""
    out = torch.zeros_like(x)
    q, k, v = layer.q_proj(x), layer.k_proj(x), layer.v_proj(x)
    for b in range(x.shape[0]):
        for i in range(x.shape[1]):
            merged = []
            for h in range(3):
                own = slice(11 * h, 11 * (h + 1))
                seen = [j for j in range(x.shape[1]) if mask[i, j]]
                scores = [float(q[b, i, own] @ k[b, j, own]) / math.sqrt(11) for j in seen]
                total = sum(math.exp(s) for s in scores)
                pairs = zip(seen, scores, strict=True)
                merged.append(sum(math.exp(s) / total * v[b, j, own] for j, s in pairs))
            out[b, i] = layer.out_proj(torch.cat(merged))
    return out


def _output(result):
    return result[0] if isinstance(result, tuple) else result
