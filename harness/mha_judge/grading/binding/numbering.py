"""Arrangements apart from the numbers that they place: found once, they serve every draw.

Which numbers go where depends on shapes and names alone. So it is looked for with numbers that say
which they are, and what is found is used for all weights of these shapes, and for their gradients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from mha_judge.grading.binding.maps import RoleWeights


def numbered(roles: Sequence[RoleWeights]) -> list[RoleWeights]:
    """Return roles in which every number is its place among all, from 1: a 0 is none of them."""
    sizes = [one.numel() for one in _tensors(roles)]
    every = torch.arange(1.0, 1 + sum(sizes), dtype=torch.float64)
    parts = iter(torch.split_with_sizes(every, sizes))
    return [
        replace(
            role,
            weight=next(parts).reshape(role.weight.shape),
            bias=next(parts).reshape(role.bias.shape),
        )
        for role in roles
    ]


def placed(
    values: Mapping[str, Tensor], roles: Sequence[RoleWeights], dtype: torch.dtype
) -> dict[str, Tensor]:
    """Return what an arrangement of numbered roles puts where, for the numbers of some roles.

    Args:
        values: By path, the places of its numbers.
        roles: Of the same shapes, in the same order.
        dtype: That of the result.
    """
    numbers = torch.cat([torch.zeros(1), *(one.reshape(-1) for one in _tensors(roles))]).to(dtype)
    return {path: numbers[places.long()] for path, places in values.items()}


def _tensors(roles: Sequence[RoleWeights]) -> Iterator[Tensor]:
    for role in roles:
        yield role.weight
        yield role.bias
