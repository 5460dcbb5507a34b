"""Steps of the reference against complex rotations and PyTorch's fused attention."""

import torch
from reference.decoder_attention import DecoderAttention
from torch import Tensor
from torch.nn import functional


def cases():
    """Yield a name, the reference's value and one made otherwise, in float64."""
    torch.set_default_dtype(torch.float64)  # the angles are computed in it
    try:
        found = [*_cases()]
    finally:
        torch.set_default_dtype(torch.float32)
    yield from found


def _cases():
    x = torch.randn(2, 19, 36)
    distance = torch.arange(19).unsqueeze(1) - torch.arange(19)
    for groups, window in ((1, None), (2, 4), (6, 25), (3, 1)):
        layer = DecoderAttention(36, 6, groups, window)
        q, k, v = (
            part.unflatten(-1, (-1, 6)).transpose(1, 2)
            for part in (layer.q_proj(x), layer.k_proj(x), layer.v_proj(x))
        )
        q, k = _spun(q), _spun(k)
        seen = (distance >= 0) & (distance < (window or 99))
        heads = functional.scaled_dot_product_attention(q, k, v, attn_mask=seen, enable_gqa=True)
        whole = layer.out_proj(heads.transpose(1, 2).flatten(2))

        outputs, cache = [], None
        for chunk in x.split([5, 1, 1, 12], dim=1):
            output, cache = layer(chunk, cache)
            outputs.append(output)
        name = f"{groups} groups, window {window}"
        yield f"scaled_dot_product_attention, one pass, {name}", layer(x)[0], whole
        yield f"scaled_dot_product_attention, steps, {name}", torch.cat(outputs, 1), whole
        yield f"keys spun as complex numbers, after steps, {name}", cache[0], k
        yield f"the values of one pass, after steps, {name}", cache[1], v


def _spun(x: Tensor) -> Tensor:
    """Return x, (B, heads, 19, 6), whose halves are real and imaginary parts, spun."""
    frequencies = torch.tensor([1.0, 10_000 ** (-1 / 3), 10_000 ** (-2 / 3)])
    spin = torch.polar(torch.ones(19, 3), torch.arange(19.0).unsqueeze(1) * frequencies)
    turned = torch.complex(*x.chunk(2, dim=-1)) * spin
    return torch.cat((turned.real, turned.imag), dim=-1)
