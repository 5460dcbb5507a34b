"""Steps of the reference against full keys and values in PyTorch's fused attention."""

import torch
from reference.mla import MultiHeadLatentAttention
from torch.nn import functional


def cases():
    """Yield a name, the reference's value and one made otherwise, in float64."""
    layer = MultiHeadLatentAttention(30, 5, 13).double()
    x = torch.randn(2, 19, 30, dtype=torch.float64)
    outputs, cache = [], None
    for start, stop in ((0, 5), (5, 6), (6, 7), (7, 19)):
        output, cache = layer(x[:, start:stop], cache)
        outputs.append(output)
    steps = torch.cat(outputs, 1)

    latents = layer.down_proj(x)
    q, k, v = (
        part.unflatten(-1, (5, 6)).transpose(1, 2)
        for part in (layer.q_proj(x), layer.k_up_proj(latents), layer.v_up_proj(latents))
    )
    heads = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    whole = layer.out_proj(heads.transpose(1, 2).flatten(2))
    yield "scaled_dot_product_attention on expanded keys and values, one pass", layer(x)[0], whole
    yield "scaled_dot_product_attention on expanded keys and values, steps", steps, whole
    yield "the latents of one pass, after steps", cache, latents

    # The maps absorbed: queries and weighted sums of width C, one key for all heads.
    up_k = layer.k_up_proj.weight.unflatten(0, (5, 6))
    up_v = layer.v_up_proj.weight.unflatten(0, (5, 6))
    wide = torch.einsum("bhld,hdc->bhlc", q, up_k)
    shared = latents.unsqueeze(1).expand(-1, 5, -1, -1)
    sums = functional.scaled_dot_product_attention(
        wide, shared, shared, is_causal=True, scale=6**-0.5
    )
    heads = torch.einsum("bhlc,hdc->blhd", sums, up_v).flatten(2) + layer.v_up_proj.bias
    yield "the up maps absorbed into queries and outputs", layer(x)[0], layer.out_proj(heads)
