"""The reference against PyTorch's multi-head attention, in evaluation and in training."""

import torch
from reference.attention_dropout import MultiHeadAttention
from torch import nn


def cases():
    """Yield a name, the reference's output and PyTorch's, (B, L, E) in float64."""
    own = MultiHeadAttention(33, 3, 0.4).double()
    other = nn.MultiheadAttention(33, 3, dropout=0.4, batch_first=True, dtype=torch.float64)
    maps = (own.q_proj, own.k_proj, own.v_proj)
    other.in_proj_weight.copy_(torch.cat([m.weight for m in maps]))
    other.in_proj_bias.copy_(torch.cat([m.bias for m in maps]))
    other.out_proj.load_state_dict(own.out_proj.state_dict())

    q = torch.randn(2, 5, 33, dtype=torch.float64)
    k = torch.randn(2, 7, 33, dtype=torch.float64)
    v = torch.randn(2, 7, 33, dtype=torch.float64)
    mask = torch.rand(5, 7) < 0.6
    mask[:, 2] = True  # every query may attend to some key
    own.eval(), other.eval()
    yield "MultiheadAttention in eval()", _output(own(q, k, v)), other(q, k, v)[0]
    yield (
        "MultiheadAttention in eval() with attn_mask",
        _output(own(q, k, v, mask)),
        other(q, k, v, attn_mask=~mask)[0],
    )

    own.train(), other.train()  # both draw once, for weights of equal size
    yield (
        "MultiheadAttention in training, from one state of the generator",
        _output(_from_one_state(own, q, k, v)),
        _output(_from_one_state(other, q, k, v)),
    )


def _from_one_state(layer, *inputs):
    torch.manual_seed(7)
    return layer(*inputs)


def _output(result):
    return result[0] if isinstance(result, tuple) else result
