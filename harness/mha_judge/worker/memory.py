"""Where numbers lie in memory."""

import torch

OFFSET = 4
"""Elements of a larger tensor before a slice of it; even, so that the slice can be viewed as
complex numbers."""


def behind_others(tensor: torch.Tensor) -> torch.Tensor:
    """Return a copy in the order of the axes that does not begin where its memory does."""
    whole = tensor.new_empty(tensor.numel() + OFFSET)
    return whole[OFFSET:].view(tensor.shape).copy_(tensor)


def whole_of(tensor: torch.Tensor) -> torch.Tensor:
    """Return all numbers in the memory that a tensor is a part of; if it cannot be had, its own."""
    storage = tensor.untyped_storage()
    size = storage.nbytes() // max(1, tensor.itemsize)
    return tensor.new_empty(0).set_(storage, 0, (size,), (1,)) if size else tensor
