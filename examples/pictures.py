"""Makes the pictures of the README: `make pictures`. The page is drawn by Chromium."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from mha_judge.bank import Bank
from mha_judge.judge import grade
from mha_judge.render.report import terminal
from mha_judge.sandbox import SandboxOptions
from mha_judge.submission import Submission

HERE = Path(__file__).parent
PICTURES = HERE / "pictures"
SEED = 7
WIDTH, HEIGHT = 1200, 1500
MADE = {
    "Ada": {"sdpa": "", "gqa": "", "kv-cache-step": ""},
    "Ben": {"sdpa": "no-scale", "gqa": "", "kv-cache-step": "keys-and-values-swapped"},
    "Chen": {"sdpa": "softmax-over-queries", "gqa": "groups-tiled", "kv-cache-step": ""},
    "Dora": {"sdpa": "no-scale", "gqa": "groups-tiled"},
}
"""Candidates, and the mistake that each makes in each problem; none with the empty text."""


def main() -> None:
    """Write the report of the wrong example, and the page of a small class."""
    PICTURES.mkdir(exist_ok=True)
    bank = Bank.builtin()
    _draw_report(bank)
    with tempfile.TemporaryDirectory() as folder:
        _draw_page(bank, Path(folder))


def _draw_report(bank: Bank) -> None:
    submission = Submission.read(HERE / "forgets_to_scale.py")
    channel = SandboxOptions().open()
    try:
        report = grade(submission, bank, bank.problem("sdpa"), channel, seed=SEED)
    finally:
        channel.close()
    path = report.submission.model_copy(update={"path": "sdpa.py"})
    console = Console(record=True, width=84, file=io.StringIO(), force_terminal=True)
    terminal.show(report.model_copy(update={"submission": path}), console)
    console.save_svg(str(PICTURES / "report.svg"), title="mha-judge run sdpa.py")


def _draw_page(bank: Bank, folder: Path) -> None:
    for name, made in MADE.items():
        (folder / "class" / name).mkdir(parents=True)
        for problem, mistake in made.items():
            known = {one.id: one.source for one in bank.mistakes(problem)}
            source = known[mistake] if mistake else bank.reference(problem).read_text()
            (folder / "class" / name / f"{problem.replace('-', '_')}.py").write_text(source)
    page = folder / "scores.html"
    command = [sys.executable, "-m", "mha_judge", "score", "class", "--seed", str(SEED)]
    subprocess.run([*command, "--html", str(page)], cwd=folder, check=True)
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("make pictures draws the page with Chromium; install it, and try again")
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={WIDTH},{HEIGHT}"]
    picture = f"--screenshot={PICTURES / 'scores.png'}"
    subprocess.run([browser, *options, picture, page.as_uri()], check=True, capture_output=True)


if __name__ == "__main__":
    main()
