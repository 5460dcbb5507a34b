"""Steps of the reference against one causal pass of PyTorch's fused attention."""

import torch
from reference.kv_cache_step import CachedSelfAttention
from torch.nn import functional


def cases():
    """Yield a name, the reference's outputs and one full pass, (B, L, E) in float64."""
    layer = CachedSelfAttention(30, 5).double()
    x = torch.randn(2, 19, 30, dtype=torch.float64)
    maps = (layer.q_proj, layer.k_proj, layer.v_proj)
    q, k, v = (m(x).unflatten(-1, (5, 6)).transpose(1, 2) for m in maps)
    heads = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    whole = layer.out_proj(heads.transpose(1, 2).flatten(2))

    yield "scaled_dot_product_attention(is_causal=True), one pass", layer(x)[0], whole
    outputs, cache = [], None
    for start, stop in ((0, 5), (5, 6), (6, 7), (7, 19)):
        output, cache = layer(x[:, start:stop], cache)
        outputs.append(output)
    yield "scaled_dot_product_attention(is_causal=True), steps", torch.cat(outputs, 1), whole
