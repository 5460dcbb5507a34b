"""The reference against PyTorch's encoder layer with the same weights."""

import torch
from reference.encoder_block import EncoderBlock
from torch import nn


def cases():
    """Yield a name, the reference's output and PyTorch's, (B, L, E) in float64."""
    own = EncoderBlock(33, 3, 47).double()
    for parameter in own.parameters():
        parameter.copy_(torch.randn_like(parameter) / parameter.shape[-1] ** 0.5)
    other = nn.TransformerEncoderLayer(
        33, 3, 47, dropout=0.0, activation="relu", batch_first=True, dtype=torch.float64
    )
    maps = (own.q_proj, own.k_proj, own.v_proj)
    other.self_attn.in_proj_weight.copy_(torch.cat([m.weight for m in maps]))
    other.self_attn.in_proj_bias.copy_(torch.cat([m.bias for m in maps]))
    other.self_attn.out_proj.load_state_dict(own.out_proj.state_dict())
    other.linear1.load_state_dict(own.ffn1.state_dict())
    other.linear2.load_state_dict(own.ffn2.state_dict())
    other.norm1.load_state_dict(own.norm1.state_dict())
    other.norm2.load_state_dict(own.norm2.state_dict())

    x = 2 * torch.randn(2, 7, 33, dtype=torch.float64)
    mask = torch.rand(7, 7) < 0.6
    mask[:, 2] = True  # every position may attend to some other
    padding = torch.ones(2, 7, dtype=torch.bool)
    padding[1, 4:] = False
    # There a mask says what is blocked.
    yield "TransformerEncoderLayer", own(x), other(x)
    yield "TransformerEncoderLayer with src_mask", own(x, mask), other(x, src_mask=~mask)
    yield (
        "TransformerEncoderLayer with src_key_padding_mask",
        own(x, padding[:, None, None]),
        other(x, src_key_padding_mask=~padding),
    )
