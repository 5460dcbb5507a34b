"""Steps of the reference against fused attention: keys side by side, and the maps absorbed."""

import torch
from reference.mla_full import RotaryLatentAttention
from torch.nn import functional


def cases():
    """Yield a name, the reference's value and one made otherwise, in float64."""
    torch.set_default_dtype(torch.float64)  # the angles are computed in it
    try:
        yield from _cases()
    finally:
        torch.set_default_dtype(torch.float32)


def _cases():
    layer = RotaryLatentAttention(30, 5, 11, 13, 8)  # D = 6, R = 8
    x = torch.randn(2, 19, 30)
    outputs, cache = [], None
    for start, stop in ((0, 5), (5, 6), (6, 7), (7, 19)):
        output, cache = layer(x[:, start:stop], cache)
        outputs.append(output)
    steps = torch.cat(outputs, 1)

    latents, queries = layer.down_proj(x), layer.q_down_proj(x)
    q, q_rope, k, v = (
        part.unflatten(-1, (5, -1)).transpose(1, 2)
        for part in (
            layer.q_up_proj(queries),
            _spun(layer.q_rope_proj(queries), 5),
            layer.k_up_proj(latents),
            layer.v_up_proj(latents),
        )
    )
    turned = _spun(layer.k_rope_proj(x), 1)
    shared = turned.unsqueeze(1).expand(-1, 5, -1, -1)
    wide = torch.cat((q, q_rope), -1), torch.cat((k, shared), -1)
    heads = functional.scaled_dot_product_attention(*wide, v, is_causal=True)
    whole = layer.out_proj(heads.transpose(1, 2).flatten(2))
    yield "scaled_dot_product_attention on keys side by side, one pass", layer(x)[0], whole
    yield "scaled_dot_product_attention on keys side by side, steps", steps, whole
    yield "the latents of one pass, after steps", cache[0], latents
    yield "keys turned as complex numbers, after steps", cache[1], turned

    # The maps absorbed: queries of width C + R, and one key for all heads.
    up_k = layer.k_up_proj.weight.unflatten(0, (5, 6))
    up_v = layer.v_up_proj.weight.unflatten(0, (5, 6))
    absorbed = torch.cat((torch.einsum("bhld,hdc->bhlc", q, up_k), q_rope), -1)
    keys = torch.cat((latents, turned), -1).unsqueeze(1).expand(-1, 5, -1, -1)
    sums = functional.scaled_dot_product_attention(
        absorbed, keys, keys[..., :13], is_causal=True, scale=14**-0.5
    )
    heads = torch.einsum("bhlc,hdc->blhd", sums, up_v).flatten(2) + layer.v_up_proj.bias
    yield "the up maps absorbed into queries and outputs", layer(x)[0], layer.out_proj(heads)


def _spun(x, heads):
    """Return x, (B, L, heads · R), turned: features i and i + R/2 as real and imaginary part."""
    first, second = x.unflatten(-1, (heads, 2, -1)).unbind(-2)  # (B, L, heads, R/2) each
    half = first.shape[-1]
    frequencies = 10000.0 ** -(torch.arange(half) / half)
    angles = torch.arange(x.shape[1])[:, None, None] * frequencies
    spun = torch.complex(first, second) * torch.exp(1j * angles)
    return torch.cat((spun.real, spun.imag), -1).flatten(2)
