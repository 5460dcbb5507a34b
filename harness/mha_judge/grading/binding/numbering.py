"""Arrangements of positions instead of numbers: found once, they serve every draw.

Where a number goes depends on shapes and names alone. So arrangements are searched with numbers
that are their own positions, and serve all weights of these shapes, and their gradients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from mha_judge.grading.binding.maps import RoleWeights


def numbered(roles: Sequence[RoleWeights]) -> list[RoleWeights]:
    """Return roles in which every number is its position among all, from 1; 0 means none."""
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
    """Return the values of an arrangement of numbered roles, with the numbers of `roles`.

    Args:
        values: By path, the positions of the numbers.
        roles: Roles of the same shapes, in the same order.
        dtype: The dtype of the result.
    """
    numbers = torch.cat([torch.zeros(1), *(one.reshape(-1) for one in _tensors(roles))]).to(dtype)
    return {path: numbers[places.long()] for path, places in values.items()}


def _tensors(roles: Sequence[RoleWeights]) -> Iterator[Tensor]:
    for role in roles:
        yield role.weight
        yield role.bias
