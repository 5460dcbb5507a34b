"""The table of SECURITY.md: class of attack × backend, from a run of the attacks.

`MHA_JUDGE_ATTACK_TABLE=SECURITY.md python -m pytest tests/attacks/test_attacks.py` writes it.
"""

import platform
from collections import defaultdict
from pathlib import Path

from attacks.corpus import CLASSES, COUNTS

BEGIN = "<!-- attacks: from a run of tests/attacks -->"
END = "<!-- end of attacks -->"
BACKENDS = ("jail", "bubblewrap", "namespaces", "container")
OUTCOMES: dict[tuple[str, str], list[bool]] = defaultdict(list)


def lines(outcomes: dict[tuple[str, str], list[bool]]) -> str:
    """Return the table; a backend that did not run says so."""
    rows = [f"| class | attacks | {' | '.join(BACKENDS)} |", "|---|---|" + "---|" * len(BACKENDS)]
    for kind in CLASSES:
        cells = [str(COUNTS[kind])]
        for backend in BACKENDS:
            found = outcomes.get((kind, backend), [])
            cells.append(f"{sum(found)} held" if found else "not run")
            if found and not all(found):
                cells[-1] += f", **{found.count(False)} did not**"
        rows.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join(rows)


def write(target: str) -> None:
    path = Path(target)
    text = path.read_text(encoding="utf-8")
    before, found, rest = text.partition(BEGIN)
    if not found:
        raise ValueError(f"{path} has no line {BEGIN}")
    after = rest.partition(END)[2]
    release = ".".join(platform.release().split(".")[:2])
    note = (
        f"Generated from a run on Linux {release}, {platform.machine()}; an attack holds if its "
        "verdict is one declared, none of the evidence shows, and a right and a wrong answer keep "
        "their verdicts afterwards."
    )
    path.write_text(
        f"{before}{BEGIN}\n\n{lines(OUTCOMES)}\n\n{note}\n\n{END}{after}", encoding="utf-8"
    )
