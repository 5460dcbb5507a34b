"""The reference against PyTorch's fused attention on keys and values compressed by einsum."""

import torch
from reference.linformer import LinformerSelfAttention
from torch.nn import functional


def cases():
    """Yield a name, the reference's output and one made otherwise, (B, L, E) in float64."""
    layer = LinformerSelfAttention(30, 5, 11, 4).double()
    x = torch.randn(2, 11, 30, dtype=torch.float64)

    def compressed(full, length_map):
        short = torch.einsum("kl,ble->bke", length_map.weight, full)
        return short + length_map.bias[:, None]

    q = layer.q_proj(x)
    k = compressed(layer.k_proj(x), layer.k_length_proj)
    v = compressed(layer.v_proj(x), layer.v_length_proj)
    q, k, v = (t.unflatten(-1, (5, 6)).transpose(1, 2) for t in (q, k, v))
    heads = functional.scaled_dot_product_attention(q, k, v)
    other = layer.out_proj(heads.transpose(1, 2).flatten(2))
    yield "scaled_dot_product_attention on compressed keys and values", layer(x), other

    # Where nothing is compressed, Linformer is ordinary attention.
    layer = LinformerSelfAttention(30, 5, 7, 7).double()
    with torch.no_grad():
        for length_map in (layer.k_length_proj, layer.v_length_proj):
            length_map.weight.copy_(torch.eye(7))
            length_map.bias.zero_()
    maps = (layer.q_proj, layer.k_proj, layer.v_proj)
    x = torch.randn(2, 7, 30, dtype=torch.float64)
    packed = torch.cat([m.weight for m in maps]), torch.cat([m.bias for m in maps])
    other, _ = functional.multi_head_attention_forward(
        *[x.transpose(0, 1)] * 3, 30, 5, *packed, None, None, False, 0.0,
        layer.out_proj.weight, layer.out_proj.bias,
    )  # fmt: skip
    yield "multi_head_attention_forward where P is the identity", layer(x), other.transpose(0, 1)
