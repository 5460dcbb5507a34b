"""What the judge is measured against must do the same work."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.slow
def test_the_same_checks_beside_the_judge_give_the_same_verdicts():
    code = (
        "from direct import *\n"
        "with direct_sessions():\n"
        "    for problem, path in mixed(4):\n"
        "        report = graded(Bank.builtin(), problem, Submission.read(path))\n"
        "        print(path.stem.split('_')[0], report.verdict)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=BENCHMARKS, capture_output=True, text=True, check=True
    )

    verdicts = [line.split() for line in done.stdout.splitlines()]
    assert len(verdicts) == 4
    assert all((stated == "right") == (verdict == "accepted") for stated, verdict in verdicts)
