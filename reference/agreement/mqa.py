"""The reference against PyTorch's fused attention, and against multi-head attention."""

import torch
from reference.mqa import MultiQueryAttention
from torch import nn
from torch.nn import functional


def cases():
    """Yield a name, the reference's output and one made with PyTorch, (B, L, E) in float64."""
    x = torch.randn(2, 7, 30, dtype=torch.float64)
    mask = torch.ones(7, 7, dtype=torch.bool).tril()
    for heads in (1, 3, 6):
        layer = MultiQueryAttention(30, heads).double()
        q = layer.q_proj(x).unflatten(-1, (heads, -1)).transpose(1, 2)
        k, v = layer.k_proj(x)[:, None], layer.v_proj(x)[:, None]
        fused = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
        other = layer.out_proj(fused.transpose(1, 2).flatten(2))
        yield f"scaled_dot_product_attention, {heads} heads", _output(layer(x, mask)), other
        yield (
            f"MultiheadAttention with the key and value head repeated, {heads} heads",
            _output(layer(x, mask)),
            _multi_head(layer, heads)(x, x, x, attn_mask=~mask)[0],
        )


def _multi_head(layer, heads):
    """Return a multi-head layer all of whose key heads, and value heads, are one."""
    other = nn.MultiheadAttention(30, heads, batch_first=True, dtype=torch.float64)
    maps = [layer.q_proj, *[layer.k_proj] * heads, *[layer.v_proj] * heads]
    other.in_proj_weight.copy_(torch.cat([m.weight for m in maps]))
    other.in_proj_bias.copy_(torch.cat([m.bias for m in maps]))
    other.out_proj.load_state_dict(layer.out_proj.state_dict())
    return other


def _output(result):
    return result[0] if isinstance(result, tuple) else result
