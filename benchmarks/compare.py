"""Compare judges on the same answers: `python benchmarks/compare.py > docs/comparison.md`.

The answers in `held_out` were written from the statements alone, by an author who saw no grader and
ran no judge. Each judge takes each answer in a process and a folder of its own.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from measure import ENVIRONMENT, JUDGE, ROOT, core_s
from memory import proportional

HERE = Path(__file__).parent
HELD_OUT = HERE / "held_out"
KINDS = ("right", "typical", "corner", "hostile")
PACKAGE = "torch-judge==0.1.1"
_INSTALLED = ROOT / "build" / "compare"
_LIMIT_S = 120
_LOOK_S = 0.05
_STARVED_BYTES = 600 << 20
"""Of address space: less than `import torch` takes."""
_KILLED_AFTER_S = 0.7
_BROKEN = 'raise ImportError("this installation is broken")\n'


class Verdict(StrEnum):
    """What somebody who reads a judge's result takes it for."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    NONE = "no verdict"


@dataclass(frozen=True)
class Answer:
    """A file that all judges are given."""

    problem: str
    path: Path
    kind: str
    fault: str
    """What its author says is wrong, or unusual."""
    needs: str
    """What a judge must ask for to see the fault: `mask`, `weights`, `errors` or nothing; or
    `names`, of an answer that is called otherwise than the statement calls it."""


@dataclass(frozen=True)
class Process:
    """How a judge's process ended."""

    code: int
    folder: Path
    core_s: float
    mib: float


@dataclass(frozen=True)
class Judge:
    """One way to grade."""

    name: str
    command: Callable[[Answer, Path], list[str]]
    """Puts what it needs into a folder; returns what to run there."""
    read: Callable[[Process], Verdict]
    asks: tuple[str, ...] = ("mask", "weights", "errors", "")
    """Which faults are in what it asks for; others are not held against it."""
    modules: str = ""
    """A folder that holds it, where it is not installed."""

    def covers(self, answer: Answer) -> bool:
        return answer.needs in self.asks


def _mha_judge(answer: Answer, folder: Path) -> list[str]:
    command = [JUDGE, "run", str(answer.path), "--problem", answer.problem, "--sandbox", "jail"]
    return [*command, "--no-progress", "--json", "report.json"]


def _by_exit_code(done: Process) -> Verdict:
    """Read the exit code as the judge documents it; 0 and 1 are verdicts."""
    return {0: Verdict.ACCEPTED, 1: Verdict.REJECTED}.get(done.code, Verdict.NONE)


def _pytest(answer: Answer, folder: Path) -> list[str]:
    shutil.copyfile(answer.path, folder / "answer.py")
    shutil.copyfile(HERE / "plain" / f"test_{answer.problem}.py", folder / "test_answer.py")
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_answer.py"]


def _allclose(answer: Answer, folder: Path) -> list[str]:
    shutil.copyfile(answer.path, folder / "answer.py")
    shutil.copyfile(HERE / "peers" / "allclose.py", folder / "allclose.py")
    return [sys.executable, "allclose.py", answer.problem]


def _torch_judge(answer: Answer, folder: Path) -> list[str]:
    return [sys.executable, str(HERE / "peers" / "notebook.py"), str(answer.path), answer.problem]


def _by_progress(done: Process) -> Verdict:
    """Read what torch-judge keeps: a task is solved, or attempted, or neither."""
    try:
        kept = json.loads((done.folder / "data" / "progress.json").read_text("utf-8"))
    except (OSError, ValueError):
        return Verdict.NONE
    states = {one.get("status") for one in kept.values()}
    if "solved" in states:
        return Verdict.ACCEPTED
    return Verdict.REJECTED if "attempted" in states else Verdict.NONE


JUDGES = (
    Judge("mha-judge", _mha_judge, _by_exit_code, ("mask", "weights", "errors", "names", "")),
    Judge(
        "torch-judge", _torch_judge, _by_progress, asks=("",),
        modules=str(_INSTALLED),
    ),
    Judge("pytest, eight checks", _pytest, _by_exit_code),
    Judge("`torch.allclose`, three seeds", _allclose, _by_exit_code),
)  # fmt: skip


def answers() -> list[Answer]:
    """Return all answers, by problem and kind."""
    found = []
    for path in sorted(HELD_OUT.glob("*/*.py")):
        text = path.read_text("utf-8")
        stated = dict(re.findall(r"^# (wrong|right|needs): (.+)$", text, re.MULTILINE))
        kind = path.stem.partition("_")[0]
        fault = stated.get("wrong") or stated.get("right") or ""
        found.append(Answer(path.parent.name, path, kind, fault, stated.get("needs", "")))
    return found


def run(
    judge: Judge,
    answer: Answer,
    folder: Path,
    *,
    start: Callable[[], None] | None = None,
    modules: str = "",
    limit_s: float = _LIMIT_S,
) -> Process:
    """Have a judge grade an answer in a folder; a process without end is killed.

    Args:
        judge: The judge.
        answer: The answer.
        folder: Empty; what the judge writes stays there.
        start: Called in the judge's process before it begins.
        modules: A folder in which Python looks for modules first.
        limit_s: After how many seconds it is killed.
    """
    path = os.pathsep.join(filter(None, (modules, judge.modules)))
    variables = {**ENVIRONMENT, **({"PYTHONPATH": path} if path else {})}
    command = judge.command(answer, folder)
    began, before, most = time.monotonic(), core_s(), 0
    with (folder / "out.txt").open("w") as out, subprocess.Popen(
        command, cwd=folder, env=variables, stdout=out, stderr=out, start_new_session=True,
        preexec_fn=start,
    ) as process:  # fmt: skip
        while process.poll() is None:
            most = max(most, proportional(process.pid))
            if time.monotonic() - began > limit_s:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            time.sleep(_LOOK_S)
    return Process(process.returncode, folder, core_s() - before, most / (1 << 20))


@dataclass
class Outcome:
    """What came of one answer with one judge."""

    answer: Answer
    verdict: Verdict
    core_s: float
    mib: float
    names: list[str]


def graded(judge: Judge, answer: Answer) -> Outcome:
    """Return what a judge makes of an answer."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        done = run(judge, answer, folder)
        report = folder / "report.json"
        names = []
        if report.is_file() and judge.name == "mha-judge":
            names = [one["title"] for one in json.loads(report.read_text("utf-8"))["diagnoses"]]
        return Outcome(answer, judge.read(done), done.core_s, done.mib, names)


def failures_told_as_wrong(judge: Judge, right: Iterable[Answer]) -> tuple[int, int]:
    """Return how many right answers a judge that cannot work calls wrong, and of how many."""
    verdicts = []
    with tempfile.TemporaryDirectory() as broken:
        (Path(broken) / "torch.py").write_text(_BROKEN, "utf-8")
        ways: list[dict[str, Any]] = [
            {"start": _starve}, {"modules": broken}, {"limit_s": _KILLED_AFTER_S},
        ]  # fmt: skip
        for answer, way in itertools.product(right, ways):
            with tempfile.TemporaryDirectory() as name:
                verdicts.append(judge.read(run(judge, answer, Path(name), **way)))
    ended = [one for one in verdicts if one is not Verdict.ACCEPTED]  # before it was killed
    return ended.count(Verdict.REJECTED), len(ended)


def _starve() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_STARVED_BYTES, _STARVED_BYTES))


def share(found: int, of: int) -> str:
    """Return a count with the 95 % interval of its rate (Wilson 1927)."""
    if not of:
        return "–"
    z = statistics.NormalDist().inv_cdf(0.975)
    rate = found / of
    middle = (rate + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * math.sqrt(rate * (1 - rate) / of + z * z / (4 * of * of))
    low, high = (100 * min(1.0, max(0.0, one)) for one in (middle - half, middle + half))
    return f"{found} of {of} ({low:.0f}–{high:.0f} %)"


@cache
def _install() -> None:
    """Put torch-judge where only this comparison finds it."""
    if not (_INSTALLED / "torch_judge").is_dir():
        pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install")
        command = (*pip, "--no-deps", "--target", str(_INSTALLED), PACKAGE)
        subprocess.run(command, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="PATH", help="write every verdict as JSON")
    arguments = parser.parse_args()
    _install()
    every = answers()
    found = {}
    for judge in JUDGES:
        print(f"{judge.name} grades {len(every)} answers", file=sys.stderr)
        found[judge.name] = [graded(judge, answer) for answer in every if judge.covers(answer)]
    right = [answer for answer in every if answer.kind == "right"][::6]
    failed = {judge.name: failures_told_as_wrong(judge, right) for judge in JUDGES}
    print(page(found, failed), end="")
    if arguments.json:
        lines = [
            {
                "judge": name, "problem": one.answer.problem, "answer": one.answer.path.stem,
                "verdict": one.verdict, "names": one.names,
            }
            for name, outcomes in found.items() for one in outcomes
        ]  # fmt: skip
        arguments.json.write_text(json.dumps(lines, indent=1), "utf-8")


def page(found: Mapping[str, list[Outcome]], failed: Mapping[str, tuple[int, int]]) -> str:
    """Return the page of the documentation."""
    columns = []
    for name, outcomes in found.items():
        of_kind = {kind: [one for one in outcomes if one.answer.kind == kind] for kind in KINDS}
        cells = [name]
        for kind, of in of_kind.items():
            bad = Verdict.REJECTED if kind == "right" else Verdict.ACCEPTED
            cells.append(share(sum(one.verdict is bad for one in of), len(of)))
        typical, rights = of_kind["typical"], of_kind["right"]
        cells.append(share(*failed[name]))
        cells.append(share(sum(bool(one.names) for one in typical), len(typical)))
        cells.append(f"{statistics.median(one.core_s for one in rights):.1f}")
        cells.append(f"{statistics.median(one.mib for one in rights):.0f}")
        columns.append(cells)
    rows = [f"| {' | '.join(row)} |" for row in zip(_ROWS, *columns, strict=True)]
    rows.insert(1, "|---" * (len(columns) + 1) + "|")
    ours = found["mha-judge"]
    listed = [
        f"- `{one.answer.path.stem}` ({one.answer.problem}): {one.verdict}. {one.answer.fault}"
        for one in ours
        if (one.verdict is Verdict.ACCEPTED) is not (one.answer.kind == "right")
    ]
    unnamed = [
        f"- `{one.answer.path.stem}` ({one.answer.problem}): {one.answer.fault}"
        for one in ours
        if one.answer.kind == "typical" and not one.names and one.verdict is Verdict.REJECTED
    ]
    counts = ", ".join(f"{sum(one.answer.kind == kind for one in ours)} {kind}" for kind in KINDS)
    return _PAGE.format(
        failures="\n".join(listed) or "None in this run.",
        unnamed="\n".join(unnamed) or "All were named.",
        rows="\n".join(rows),
        counts=counts,
        versions=f"torch {version('torch')}, pytest {version('pytest')}, {PACKAGE}, "
        f"mha-judge {version('mha-judge')}",
        python=".".join(map(str, sys.version_info[:3])),
    )


_ROWS = (
    "",
    "right answers rejected",
    "typical mistakes accepted",
    "wrong in one corner, accepted",
    "hostile files accepted",
    "own failure told as a wrong answer",
    "typical mistakes named",
    "core seconds",
    "MiB",
)
_PAGE = """# How often judges are wrong

This page is for whoever chooses between this judge and what people use otherwise. It is what
`python benchmarks/compare.py` printed, which installs the other judge, runs them all, and takes
about half an hour.

## Where this judge failed

{failures}

Typical mistakes that it rejected without a name:

{unnamed}

## The table

{rows}

Behind each count stand its 95 % interval (Wilson) and how many answers it is of. Core seconds, of
all processes together, and memory are medians of a right answer, each in a fresh process.

- The answers are in `benchmarks/held_out`: {counts},
  to `sdpa` and `gqa`. Their author read the two statements, saw no grader and ran no judge. That
  one author wrote all of them is a limit: other people make other mistakes. Right is what these
  statements allow.
- They were new to all judges, and are not any more to this one, which was changed after what they
  showed: when it graded them first it accepted two corners, left four typical mistakes without a
  name and named one falsely.
- torch-judge asks for no mask, no weights and no errors. Faults that only these show are not held
  against it. Only this judge takes answers that are named otherwise than in the statement.
- The eight checks and `torch.allclose` are what one writes by hand; they are in `benchmarks/plain`
  and `benchmarks/peers`.
- A hostile file is a wrong answer that tries to be taken for a right one: it ends the process with
  exit code 0, replaces what compares, or writes a result.
- A judge's own failure is a right answer under a judge that cannot work: too little memory, a torch
  that cannot be imported, or killed. A pytest that ends with another code than 0 and 1 is taken to
  say so; many who call it do not look.
- Who names no mistakes shows which check failed.

Versions: {versions}, Python {python}.

## What others measured

- 43.4 % of 939 problems of an online judge had accepted wrong solutions: Liu et al., "Who Judges
  the Judge: An Empirical Study on Online Judge Tests", ISSTA 2023.
- Of a sample of 49 tasks of SWE-bench Verified, 28.5 % accept a wrong patch: Rajan, "Auditing
  Reward Hackability in Code RL Training Environments", arXiv 2606.16062.
"""

if __name__ == "__main__":
    main()
