"""The reference against PyTorch's decoder layer with the same weights."""

import torch
from reference.decoder_block import DecoderBlock
from torch import nn


def cases():
    """Yield a name, the reference's output and PyTorch's, (B, L, E) in float64."""
    own = DecoderBlock(33, 3, 47).double()
    for parameter in own.parameters():
        parameter.copy_(torch.randn_like(parameter) / parameter.shape[-1] ** 0.5)
    other = nn.TransformerDecoderLayer(
        33, 3, 47, dropout=0.0, activation="relu", batch_first=True, dtype=torch.float64
    )
    _copy_attention(own.self_attention, other.self_attn)
    _copy_attention(own.cross_attention, other.multihead_attn)
    other.linear1.load_state_dict(own.ffn1.state_dict())
    other.linear2.load_state_dict(own.ffn2.state_dict())
    for name in ("norm1", "norm2", "norm3"):
        getattr(other, name).load_state_dict(getattr(own, name).state_dict())

    x = 2 * torch.randn(2, 7, 33, dtype=torch.float64)
    memory = 2 * torch.randn(2, 11, 33, dtype=torch.float64)
    padding = torch.ones(2, 11, dtype=torch.bool)
    padding[1, 4:] = False
    # There a mask says what is blocked.
    future = ~torch.ones(7, 7, dtype=torch.bool).tril()
    yield "TransformerDecoderLayer", own(x, memory), other(x, memory, tgt_mask=future)
    yield (
        "TransformerDecoderLayer with memory_key_padding_mask",
        own(x, memory, padding[:, None, None]),
        other(x, memory, tgt_mask=future, memory_key_padding_mask=~padding),
    )


def _copy_attention(own, other):
    maps = (own.q_proj, own.k_proj, own.v_proj)
    other.in_proj_weight.copy_(torch.cat([m.weight for m in maps]))
    other.in_proj_bias.copy_(torch.cat([m.bias for m in maps]))
    other.out_proj.load_state_dict(own.out_proj.state_dict())
