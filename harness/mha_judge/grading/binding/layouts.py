"""The ways in which a weight map can be laid out in a parameter.

A map W (out, in) stands in a `Linear` as it is, in a parameter used as `x @ W` transposed, and
in a parameter with an axis for the heads under any order of its axes. Fused maps put the
features of queries, keys and values one after the other, head by head, or side by side.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import torch
from torch import Tensor

FUSED_LAYOUTS = ("part head dim", "head part dim", "head dim part", "group")
_LINEAR = ("Linear", "NonDynamicallyQuantizableLinear")


def layouts_of(
    shape: Sequence[int], owner: str, weight: Tensor, heads: int, split: str
) -> list[str]:
    """Return the names of the layouts in which `weight` fits a parameter of this shape.

    Args:
        shape: The parameter's.
        owner: The class of torch that holds it; a `Linear` and a `Conv1d` leave no choice.
        weight: (out, in).
        heads: How many heads divide the outputs or inputs.
        split: `out`, `in`, or `fused`: which of the two the heads divide; `norm` or `table`.
    """
    if weight.dim() == 1:
        return ["as it is"] if max(shape, default=1) == math.prod(shape) == weight.numel() else []
    out, in_ = weight.shape
    one = math.prod(shape) == 1 and len(shape) <= 2  # a matrix keeps its axes, a kernel loses them
    core = tuple(shape) if one else _squeezed(*shape)
    if owner in _LINEAR:
        if tuple(shape) == (out, in_):
            return ["out in"]
        # a table that one-hot vectors look up
        return ["in out"] if split == "table" and tuple(shape) == (in_, out) else []
    if owner == "Conv1d":
        return ["out in"] if tuple(shape) == (out, in_, 1) else []
    found = []
    if core in ((in_, out), _squeezed(in_, out)) and math.prod(shape) == weight.numel():
        found.append("in out")
    if core in ((out, in_), _squeezed(out, in_)) and math.prod(shape) == weight.numel():
        found.append("out in")
    if len(shape) == 3 and split in ("out", "in"):
        sizes = _axes(weight, heads, split)
        for order in itertools.permutations(sizes):
            if [sizes[axis] for axis in order] == list(shape):
                found.append(" ".join(order))
    return found


def leaves_no_choice(owner: str) -> bool:
    """Return whether the class that holds a parameter settles its layout."""
    return owner in _LINEAR or owner == "Conv1d"


def place(weight: Tensor, layout: str, shape: Sequence[int], heads: int, split: str) -> Tensor:
    """Return `weight` (out, in) in one of the layouts that `layouts_of` names."""
    if layout in ("out in", "as it is"):
        return weight.reshape(tuple(shape))
    if layout == "in out":
        return weight.T.reshape(tuple(shape))
    sizes = _axes(weight, heads, split)
    names = list(sizes)
    return weight.reshape(list(sizes.values())).permute(
        [names.index(axis) for axis in layout.split()]
    )


def fuse(parts: Sequence[Tensor], heads: Sequence[int], layout: str) -> Tensor | None:
    """Return maps or biases, (out, …) each, as one; None if the layout would need equal heads."""
    if len({part.shape[1:] for part in parts}) != 1:
        return None
    if layout == "part head dim":
        return torch.cat(list(parts))
    if layout == "group":
        return _fuse_groups(parts, heads)
    if len(set(heads)) != 1 or len({part.shape for part in parts}) != 1:
        return None
    split = [part.reshape(heads[0], -1, *part.shape[1:]) for part in parts]  # (H, D, …)
    axis = 1 if layout == "head part dim" else 2
    return torch.stack(split, axis).reshape(-1, *parts[0].shape[1:])


def _fuse_groups(parts: Sequence[Tensor], heads: Sequence[int]) -> Tensor | None:
    """Return each group's query heads, then its key head, then its value head."""
    groups = min(heads)
    split = [part.reshape(groups, -1, *part.shape[1:]) for part in parts]
    return torch.cat(split, 1).reshape(-1, *parts[0].shape[1:])


def _axes(weight: Tensor, heads: int, split: str) -> dict[str, int]:
    """Return the axes that the heads give a map, in the order in which (out, in) holds them."""
    out, in_ = weight.shape
    if split == "out":
        return {"head": heads, "dim": out // heads, "in": in_}
    return {"out": out, "head": heads, "dim": in_ // heads}


def _squeezed(*sizes: int) -> tuple[int, ...]:
    return tuple(size for size in sizes if size != 1)
