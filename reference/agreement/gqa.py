"""The reference against PyTorch's fused attention for grouped queries."""

import torch
from reference.gqa import GroupedQueryAttention
from torch.nn import functional


def cases():
    """Yield a name, the reference's output and one made with PyTorch, (B, L, E) in float64."""
    x = torch.randn(2, 7, 30, dtype=torch.float64)
    mask = torch.ones(7, 7, dtype=torch.bool).tril()
    for groups in (1, 2, 6):
        layer = GroupedQueryAttention(30, 6, groups).double()
        q = layer.q_proj(x).unflatten(-1, (6, 5)).transpose(1, 2)
        k = layer.k_proj(x).unflatten(-1, (groups, 5)).transpose(1, 2)
        v = layer.v_proj(x).unflatten(-1, (groups, 5)).transpose(1, 2)
        heads = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
        other = layer.out_proj(heads.transpose(1, 2).flatten(2))
        own = layer(x, mask)
        own = own[0] if isinstance(own, tuple) else own
        yield f"scaled_dot_product_attention(enable_gqa=True), {groups} groups", own, other
