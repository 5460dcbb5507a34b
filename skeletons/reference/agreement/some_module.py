"""FILL IN: what the reference is compared with, an implementation from elsewhere."""

import torch
from reference.some_module import SomeModule
from torch.nn import functional


def cases():
    """Yield a name, the reference's value and that of another implementation, in float64."""
    own = SomeModule(33, 3).double()
    x = torch.randn(2, 7, 33, dtype=torch.float64)
    other, _ = functional.multi_head_attention_forward(
        *[x.transpose(0, 1)] * 3, 33, 3,
        torch.cat([own.q_proj.weight, own.k_proj.weight, own.v_proj.weight]),
        torch.cat([own.q_proj.bias, own.k_proj.bias, own.v_proj.bias]),
        None, None, False, 0.0, own.out_proj.weight, own.out_proj.bias,
    )  # fmt: skip
    yield "multi_head_attention_forward", own(x), other.transpose(0, 1)
