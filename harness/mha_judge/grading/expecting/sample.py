"""A small part of two tensors that differ, to be looked at."""

from __future__ import annotations

import math

from torch import Tensor

from mha_judge.outcomes import SAMPLE_SIZE, Sample


def sample_at(index: tuple[int, ...], expected: Tensor, actual: Tensor, label: str) -> Sample:
    """Return the rows and columns around `index` in the last two axes of both tensors."""
    leading = index[:-2]
    window = [_around(*pair) for pair in zip(index[-2:], expected.shape[-2:], strict=True)]
    part: tuple[int | slice, ...] = (*leading, *window)
    place = [*map(str, leading), *(f"{s.start}:{s.stop}" for s in window)]
    return Sample(
        label=label,
        place=f"[{', '.join(place)}]",
        expected=_grid(expected[part]),
        actual=_grid(actual[part]),
    )


def _around(index: int, size: int) -> slice:
    start = max(0, min(index - SAMPLE_SIZE // 2, size - SAMPLE_SIZE))
    return slice(start, min(size, start + SAMPLE_SIZE))


def _grid(part: Tensor) -> list[list[float | None]]:
    columns = part.shape[-1] if part.ndim else 1
    rows: list[list[float]] = part.detach().double().reshape(-1, columns).tolist()
    return [[float(f"{x:.6g}") if math.isfinite(x) else None for x in row] for row in rows]
