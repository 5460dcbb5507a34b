"""FILL IN: what the reference is compared with, an implementation from elsewhere."""

import torch
from reference.some_function import some_function


def cases():
    """Yield a name, the reference's value and that of another implementation, in float64."""
    q = torch.randn(2, 5, 11, dtype=torch.float64)
    k = torch.randn(2, 7, 11, dtype=torch.float64)
    yield "an einsum", some_function(q, k), torch.einsum("bld,bsd->bls", q, k) * 11**-0.5
