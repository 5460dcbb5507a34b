"""The reference against PyTorch's fused attention with a bias made number by number."""

import torch
from reference.relative_bias import RelativeAttention
from torch import nn
from torch.nn import functional


def cases():
    """Yield a name, the reference's output and one made with PyTorch, (B, L, E) in float64."""
    for length, reach in ((7, 4), (13, 2), (5, 9)):
        layer = RelativeAttention(30, 5, reach).double()
        nn.init.normal_(layer.bias_table)
        x = torch.randn(2, length, 30, dtype=torch.float64)
        maps = (layer.q_proj, layer.k_proj, layer.v_proj)
        q, k, v = (m(x).unflatten(-1, (5, 6)).transpose(1, 2) for m in maps)
        bias = torch.empty(5, length, length, dtype=torch.float64)
        for i in range(length):
            for j in range(length):
                row = reach + max(-reach, min(reach, j - i))
                bias[:, i, j] = layer.bias_table[row]
        heads = functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        other = layer.out_proj(heads.transpose(1, 2).flatten(2))
        yield f"scaled_dot_product_attention(attn_mask=bias), m = {reach}", layer(x), other
