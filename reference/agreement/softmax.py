"""The reference against PyTorch's softmax."""

import torch
from reference.softmax import softmax


def cases():
    """Yield a name, the reference's value and PyTorch's, float64."""
    x = torch.randn(2, 3, 5, 7, dtype=torch.float64)
    blocked = x.masked_fill(torch.rand(2, 3, 5, 7) < 0.3, -torch.inf)
    blocked[..., 4] = 0.0
    for axis in (-1, 0, 1, -2):
        yield f"torch.softmax along {axis}", _own(x, axis), torch.softmax(x, axis)
    yield "torch.softmax of −inf", _own(blocked, -1), torch.softmax(blocked, -1)
    yield "torch.softmax of ±1e4", _own(1e4 * x, -1), torch.softmax(1e4 * x, -1)
    whole = torch.randint(-9, 9, (5, 7))
    yield "torch.softmax of integers", _own(whole, -1), torch.softmax(whole.double(), -1)


def _own(x, axis):
    return torch.from_numpy(softmax(x.numpy(), axis))
