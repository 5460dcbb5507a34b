"""The reference's counts against PyTorch's own modules and its counter of operations."""

import torch
from reference.complexity import mha_flops, mha_parameters
from torch import nn
from torch.utils.flop_counter import FlopCounterMode


def cases():
    """Yield a name, the reference's count and PyTorch's, as float64 scalars."""
    for bias in (True, False):
        layer = nn.MultiheadAttention(20, 5, bias=bias)
        counted = sum(p.numel() for p in layer.parameters())
        name = f"the parameters of MultiheadAttention(bias={bias})"
        yield name, _number(mha_parameters(20, bias)), _number(counted)
    for B, n, d, h in ((1, 5, 12, 3), (2, 7, 20, 5)):
        layer = nn.MultiheadAttention(d, h, batch_first=True).train()
        x = torch.randn(B, n, d)
        with FlopCounterMode(display=False) as counter:
            layer(x, x, x)
        name = f"FlopCounterMode on MultiheadAttention, B={B} n={n} d={d} h={h}"
        yield name, _number(mha_flops(B, n, d, h)), _number(counter.get_total_flops())


def _number(value):
    return torch.tensor(float(value), dtype=torch.float64)
