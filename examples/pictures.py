"""Makes the pictures of the README: `make pictures`. The page is drawn by Chromium."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

from mha_judge.bank import Bank
from mha_judge.judge import grade
from mha_judge.render.report import terminal
from mha_judge.sandbox import SandboxOptions
from mha_judge.submission import Submission

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from chromium import PROGRAM as CHROMIUM  # noqa: E402 as tests find it

PICTURES = HERE / "pictures"
SUBMISSIONS = HERE.parent / "tests" / "submissions"
SEED = 7
WIDTH, HEIGHT = 1200, 1360
HANDED_IN = {
    "Ada": {
        "sdpa": "right_einsum",
        "gqa": "right_llama_repeat_kv",
        "kv-cache-step": "right_bmm_and_positions",
    },
    "Ben": {
        "sdpa": "wrong_additive_mask",
        "gqa": "right_repeat_interleave",
        "kv-cache-step": "wrong_keys_and_values_swapped_in_cache",
    },
    "Chen": {
        "sdpa": "right_manual_stable_softmax",
        "gqa": "wrong_tiled_by_rearrange",
        "kv-cache-step": "right_concat_and_triu",
    },
    "Dora": {"sdpa": "wrong_k_t_reverses_all_axes", "gqa": "wrong_keys_repeated_values_tiled"},
    "Emre": {
        "sdpa": "right_logsumexp",
        "gqa": "wrong_no_scale",
        "kv-cache-step": "wrong_no_causal_mask_in_chunk",
    },
}
"""What each candidate of a small class hands in, from the tests."""


def main() -> None:
    """Write the report of the wrong example, and the page of a small class."""
    PICTURES.mkdir(exist_ok=True)
    bank = Bank.builtin()
    _draw_report(bank)
    with tempfile.TemporaryDirectory() as folder:
        _draw_page(Path(folder))


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
    # fonts are those of whoever looks at it: a picture fetches nothing
    plain = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    svg = str(PICTURES / "report.svg")
    console.save_svg(svg, title="mha-judge run sdpa.py", code_format=plain)


def _draw_page(folder: Path) -> None:
    for name, answers in HANDED_IN.items():
        (folder / "class" / name).mkdir(parents=True)
        for problem, answer in answers.items():
            source = (SUBMISSIONS / problem / f"{answer}.py").read_text(encoding="utf-8")
            path = folder / "class" / name / f"{problem.replace('-', '_')}.py"
            path.write_text(source, encoding="utf-8")
    page = folder / "scores.html"
    command = [sys.executable, "-m", "mha_judge", "score", "class", "--seed", str(SEED)]
    subprocess.run([*command, "--html", str(page)], cwd=folder, check=True)
    if CHROMIUM is None:
        sys.exit("make pictures draws the page with Chromium; install it, and try again")
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={WIDTH},{HEIGHT}"]
    picture = f"--screenshot={PICTURES / 'scores.png'}"
    subprocess.run([CHROMIUM, *options, picture, page.as_uri()], check=True, capture_output=True)


if __name__ == "__main__":
    main()
