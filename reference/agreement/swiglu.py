"""The reference against PyTorch's own SiLU and GLU, and a loop over the hidden features."""

import math

import torch
from reference.swiglu import SwiGLUFeedForward
from torch.nn import functional


def cases():
    """Yield a name, the reference's output and another's, (…, E) in float64."""
    own = SwiGLUFeedForward(7, 11).double()
    gate, up, down = own.gate_proj.weight, own.up_proj.weight, own.down_proj.weight
    for shape in ((2, 3, 7), (5, 7), (7,), (2, 3, 5, 7)):
        x = 3 * torch.randn(shape, dtype=torch.float64)
        theirs = functional.silu(x @ gate.T) * (x @ up.T) @ down.T
        yield f"functional.silu {shape}", own(x), theirs
        # glu(a, b) = a · sigmoid(b), so a takes the product of gate and up
        a = (x @ gate.T) * (x @ up.T)
        both = torch.cat([a, x @ gate.T], -1)
        yield f"functional.glu {shape}", own(x), functional.glu(both) @ down.T
    x = torch.randn(7, dtype=torch.float64)
    total = torch.zeros(7, dtype=torch.float64)
    for f in range(11):
        g, u = float(gate[f] @ x), float(up[f] @ x)
        total += g / (1 + math.exp(-g)) * u * down[:, f]
    yield "feature by feature", own(x), total
