"""A part of what was expected and of what came, as blocks: the higher, the larger."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from mha_judge.outcomes import Sample

_BLOCKS = " ▁▂▃▄▅▆▇█"
_WORDS = {
    "en": {
        "expected": "expected",
        "actual": "actual",
        "legend": "low is {low:.3g}, high is {high:.3g}; ? is NaN or infinite",
    },
    "zh": {
        "expected": "应为",
        "actual": "实为",
        "legend": "最低 {low:.3g}，最高 {high:.3g}；? 为 NaN 或无穷",
    },
}


def picture(sample: Sample, language: str = "en") -> Text:
    """Return both grids side by side, under one scale, with a legend.

    Args:
        sample: What is drawn.
        language: Of the words, `en` or `zh`.
    """
    words = _WORDS[language]
    values = [x for grid in (sample.expected, sample.actual) for row in grid for x in row]
    numbers = [value for value in values if value is not None]
    low, high = min(numbers, default=0.0), max(numbers, default=0.0)

    def blocks(row: Sequence[float | None]) -> str:
        step = (high - low) / (len(_BLOCKS) - 1) or 1.0
        return "".join("?" if x is None else 2 * _BLOCKS[round((x - low) / step)] for x in row)

    heading = Text(words["expected"])
    width = max(2 * max((len(row) for row in sample.expected), default=0), heading.cell_len)
    heading.append(" " * (width - heading.cell_len) + f"   {words['actual']}")
    heading.stylize("dim")
    rows = [
        Text(f"{blocks(one):<{width}} │ {blocks(other)}")
        for one, other in zip(sample.expected, sample.actual, strict=False)
    ]
    legend = Text(words["legend"].format(low=low, high=high), style="dim")
    lines = [Text("  ", no_wrap=True) + line for line in (heading, *rows, legend)]
    return Text("\n").join(lines)
