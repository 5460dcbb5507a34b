"""The reference against PyTorch's multi-head attention with the same weights."""

import torch
from reference.mha_numpy import MultiHeadAttentionNumpy
from torch import nn


def cases():
    """Yield a name, the reference's output or weights and PyTorch's, in float64."""
    own = MultiHeadAttentionNumpy(33, 3)
    other = nn.MultiheadAttention(33, 3, bias=False, batch_first=True, dtype=torch.float64)
    maps = [torch.from_numpy(array).T for array in (own.W_q, own.W_k, own.W_v)]
    other.in_proj_weight.copy_(torch.cat(maps))
    other.out_proj.weight.copy_(torch.from_numpy(own.W_o).T)

    q, k, v = (torch.randn(2, 7, 33, dtype=torch.float64) for _ in range(3))
    mask = torch.rand(7, 7) < 0.4
    mask[:, 2] = False  # every query may attend to some key
    padding = torch.zeros(2, 7, dtype=torch.bool)
    padding[1, 4:] = True
    # There a mask says what is blocked, as here.
    options = {"average_attn_weights": False}
    for name, given, named in (
        ("MultiheadAttention", None, {}),
        ("MultiheadAttention with attn_mask", mask, {"attn_mask": mask}),
        (
            "MultiheadAttention with key_padding_mask",
            padding[:, None, None],
            {"key_padding_mask": padding},
        ),
    ):
        blocked = None if given is None else given.numpy()
        mine = own.forward(q.numpy(), k.numpy(), v.numpy(), blocked)
        theirs = other(q, k, v, **named, **options)
        yield name, torch.from_numpy(mine[0]), theirs[0]
        yield f"{name}, its weights", torch.from_numpy(mine[1]), theirs[1]
