"""Small grids of numbers as pictures that a page can hold in itself."""

from __future__ import annotations

import base64
import struct
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from mha_judge.outcomes import Sample

_Colour = tuple[int, int, int]
_Grid = Sequence[Sequence[float | None]]

_VALUES: tuple[_Colour, ...] = (
    (68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37),
)  # fmt: skip
"""From low to high; readable in grey and to the colour-blind."""
_ERRORS: tuple[_Colour, ...] = ((244, 245, 247), (248, 113, 113), (153, 27, 27))
_NO_NUMBER: _Colour = (217, 70, 239)


@dataclass(frozen=True)
class Picture:
    """One grid."""

    title: str
    uri: str
    rows: int
    columns: int


@dataclass(frozen=True)
class Pictures:
    """What was expected, what came, and how far they are apart."""

    label: str
    place: str
    low: float
    high: float
    apart: float
    holes: bool
    """Whether NaN or infinite elements are marked."""
    grids: list[Picture]


def pictures(sample: Sample) -> Pictures:
    """Draw a sample; expected and actual have one scale."""
    apart = [
        [_distance(x, y) for x, y in zip(one, other, strict=False)]
        for one, other in zip(sample.expected, sample.actual, strict=False)
    ]
    values = _numbers(sample.expected) + _numbers(sample.actual)
    low, high = min(values, default=0.0), max(values, default=0.0)
    worst = max(_numbers(apart), default=0.0)
    return Pictures(
        label=sample.label,
        place=sample.place,
        low=low,
        high=high,
        apart=worst,
        holes=any(x is None for grid in (sample.expected, sample.actual) for r in grid for x in r),
        grids=[
            _picture("expected", sample.expected, low, high, _VALUES),
            _picture("actual", sample.actual, low, high, _VALUES),
            _picture("difference", apart, 0.0, worst, _ERRORS),
        ],
    )


def _distance(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return None
    return min(abs(one - other), sys.float_info.max)  # the difference of two floats can overflow


def _numbers(grid: _Grid) -> list[float]:
    return [x for row in grid for x in row if x is not None]


def _picture(
    title: str, grid: _Grid, low: float, high: float, palette: Sequence[_Colour]
) -> Picture:
    pixels = [[_colour(x, low, high, palette) for x in row] for row in grid]
    data = base64.b64encode(_png(pixels)).decode()
    columns = len(pixels[0]) if pixels else 0
    return Picture(title, f"data:image/png;base64,{data}", len(pixels), columns)


def _colour(x: float | None, low: float, high: float, palette: Sequence[_Colour]) -> _Colour:
    if x is None:
        return _NO_NUMBER
    # halves, because the span of two large floats overflows
    span = high / 2 - low / 2
    place = (x / 2 - low / 2) / span * (len(palette) - 1) if span > 0 else 0.0
    index = min(int(place), len(palette) - 2)
    red, green, blue = (
        round(a + (b - a) * (place - index))
        for a, b in zip(palette[index], palette[index + 1], strict=True)
    )
    return red, green, blue


def _png(pixels: Sequence[Sequence[_Colour]]) -> bytes:
    """Encode a picture with a pixel for each number; the page enlarges it."""
    size = struct.pack(">IIBBBBB", len(pixels[0]) if pixels else 0, len(pixels), 8, 2, 0, 0, 0)
    lines = b"".join(b"\0" + bytes(part for pixel in row for part in pixel) for row in pixels)
    chunks = ((b"IHDR", size), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )
