"""Right and wrong answers to all problems, mixed as a class hands them in."""

from __future__ import annotations

import random
import re
from pathlib import Path

from measure import ROOT

SUBMISSIONS = ROOT / "tests" / "submissions"
_EXPECTS = re.compile(r"^# expect: (accepted|rejected)$", re.MULTILINE)


def mixed(count: int, problem: str | None = None) -> list[tuple[str, Path]]:
    """Return `count` answers with their problems, right ones and wrong ones in turn.

    Those that are meant to hang, to crash or not to load are left out: what they take is a limit,
    not work. Where there are fewer files than asked for they come again.
    """
    files = [
        (path.parent.name, path)
        for path in sorted(SUBMISSIONS.glob(f"{problem or '*'}/*_*.py"))
        if path.parent.name != "bad_input"
        and path.name.startswith(("right_", "wrong_"))
        and _EXPECTS.search(path.read_text(encoding="utf-8"))
    ]
    right = [one for one in files if one[1].name.startswith("right_")]
    wrong = [one for one in files if one[1].name.startswith("wrong_")]
    step_right, step_wrong = (max(1, len(kind) // (count // 2 or 1)) for kind in (right, wrong))
    chosen = []
    for number in range(count):
        kind, step = (right, step_right) if number % 2 else (wrong, step_wrong)
        chosen.append(kind[(number // 2 * step + number // 2 * step // len(kind)) % len(kind)])
    random.Random(1).shuffle(chosen)  # a class does not hand in problem by problem
    return chosen


def hand_in(folder: Path, answers: list[tuple[str, Path]]) -> None:
    """Write answers as `<candidate>/<problem>.py`, a new candidate for each.

    Each is a source of its own, as the same source is graded once.
    """
    for number, (problem, path) in enumerate(answers):
        place = folder / f"candidate-{number:04}"
        place.mkdir(parents=True)
        text = path.read_text(encoding="utf-8")
        text = f"{text}# by candidate {number}\n"
        (place / f"{problem.replace('-', '_')}.py").write_text(text, encoding="utf-8")
