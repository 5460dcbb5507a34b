"""The attacks: one file each, and what cannot be a text file, made from a table.

A file is a candidate's answer to a problem, right or wrong, and an attack. Its head says

    # class: …       the folder it lies in, a class of THREATS
    # expect: …      the verdicts that it may get
    # evidence: …    what would show that the attack worked
    # why: …         where `accepted` is among them: why that is right
    # limits: short  it runs into a limit of time: short ones will do
    # unconfined: shows   without a sandbox the evidence appears, which proves that it is looked for
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mha_judge.sandbox.limits import Limits
from mha_judge.submission import MAX_BYTES

FOLDER = Path(__file__).parent
CLASSES = (
    "resources", "escape", "forgery", "exfiltration", "tensors", "persistence", "channel",
)  # fmt: skip
EVIDENCE = frozenset(
    {
        "canary file written",
        "connection to a loopback listener",
        "a secret's text appearing in the report",
        "marked process left",
        "changed verdict",
        "judge memory above a bound",
        "next submission disturbed",
        "a control character or markup acting in a report",
    }
)
# None of these should run into a limit of time, however busy the machine that tests them.
ORDINARY = Limits(call_s=10.0, load_s=30.0, total_s=60.0, cpu_s=15)
SHORT = Limits(call_s=0.5, load_s=0.6, total_s=1.2, cpu_s=5)

RIGHT = """
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
"""
WRONG = RIGHT.replace(" / q.shape[-1] ** 0.5", "")


@dataclass(frozen=True)
class Attack:
    """One attack, and what the judge should make of it."""

    name: str
    kind: str
    expect: tuple[str, ...]
    evidence: str
    why: str
    limits: Limits
    shows_unconfined: bool
    text: str


def read(path: Path) -> Attack:
    text = path.read_text(encoding="utf-8")

    def stated(name: str) -> str:
        found = re.search(rf"^# {name}: (.+)$", text, re.MULTILINE)
        return found.group(1).strip() if found else ""

    return Attack(
        name=f"{path.parent.name}/{path.stem}",
        kind=stated("class"),
        expect=tuple(word.strip() for word in stated("expect").split(",")),
        evidence=stated("evidence"),
        why=stated("why"),
        limits=SHORT if stated("limits") == "short" else ORDINARY,
        shows_unconfined=stated("unconfined") == "shows",
        text=text,
    )


FILES = sorted(FOLDER.glob("*/*.py"))
ATTACKS = [read(path) for path in FILES]


@dataclass(frozen=True)
class Made:
    """A submission that cannot be a text file here."""

    name: str
    make: Callable[[Path], Path]
    """Puts it into a folder and returns its path."""
    expect: tuple[str, ...]
    """Verdicts; `refused` is no verdict: the file is not read."""
    kind: str = "channel"


def _bytes(data: bytes, name: str = "sdpa.py") -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(data)
        return path

    return make


def _symlink(folder: Path) -> Path:
    (folder / "secret").write_text(RIGHT, encoding="utf-8")
    path = folder / "sdpa.py"
    path.symlink_to(folder / "secret")
    return path


def _fifo(folder: Path) -> Path:
    os.mkfifo(folder / "sdpa.py")
    return folder / "sdpa.py"


def _directory(folder: Path) -> Path:
    (folder / "sdpa.py").mkdir()
    return folder / "sdpa.py"


_REFUSED = ("refused",)
_ANSWERED = ("accepted", "rejected", "error", "timeout", "crashed")
_NOT_ACCEPTED = ("rejected", "error", "timeout", "crashed")
_R, _W = RIGHT.encode(), WRONG.encode()
_HOSTILE_NAME = "sdpa\x1b[2J\u202e[red]<b>\n\udcff.py"

MADE = (
    Made("5_mb_of_source", _bytes(_R + b"#" * (5 << 20)), _REFUSED),
    Made("nul_bytes", _bytes(_R + b"\0"), _REFUSED),
    Made("utf_16", _bytes(RIGHT.encode("utf-16")), _REFUSED),
    Made("latin_1_cookie", _bytes(b"# coding: latin-1\n" + _R), _REFUSED),
    Made("utf_7_cookie", _bytes(b"# coding: utf-7\n" + _R), _REFUSED),
    Made("rot13_cookie", _bytes(b"# coding: rot13\n" + _R), _REFUSED),
    Made("unknown_cookie", _bytes(b"# coding: klingon\n" + _R), _REFUSED),
    Made("empty", _bytes(b""), _REFUSED),
    Made("symlink", _symlink, _REFUSED),
    Made("fifo", _fifo, _REFUSED),
    Made("directory", _directory, _REFUSED),
    Made("device", lambda folder: Path("/dev/zero"), _REFUSED),
    Made("own_memory", lambda folder: Path("/proc/self/mem"), _REFUSED),
    Made("byte_order_mark", _bytes(b"\xef\xbb\xbf" + _W), ("rejected",)),
    Made("hostile_name", _bytes(_W, _HOSTILE_NAME), ("rejected",)),
    Made("name_of_the_worker", _bytes(_W + b"raise RuntimeError\n", "serve.py"), ("error",)),
    Made("nested_brackets", _bytes(_W + b"x = " + b"[" * 50_000 + b"]" * 50_000), _NOT_ACCEPTED),
    Made("nested_minus", _bytes(_W + b"x = " + b"-" * 100_000 + b"1"), _NOT_ACCEPTED),
    Made("nested_not", _bytes(_W + b"x = " + b"not " * 50_000 + b"1"), _NOT_ACCEPTED),
    Made("nested_lambdas", _bytes(_W + b"x = " + b"lambda:" * 30_000 + b"1"), _NOT_ACCEPTED),
    Made("nested_attributes", _bytes(_W + b"x = a" + b".b" * 100_000), _NOT_ACCEPTED),
    Made("nested_calls", _bytes(_W + b"x = f" + b"()" * 100_000), _NOT_ACCEPTED),
    Made("nested_sums", _bytes(_W + b"x = 1" + b"+1" * 100_000), _NOT_ACCEPTED),
    Made("nested_powers", _bytes(_W + b"x = 1" + b"**1" * 60_000), _NOT_ACCEPTED),
    Made("nested_conditions",
         _bytes(_W + b"if 0:\n pass\n" + b"elif 0:\n pass\n" * 9_000), _NOT_ACCEPTED),
    Made("nested_blocks",
         _bytes(_W + b"".join(b" " * n + b"if 1:\n" for n in range(99)) + b" " * 99 + b"pass\n"),
         _NOT_ACCEPTED),
    Made("nested_decorators", _bytes(_W + b"@x\n" * 80_000 + b"def f(): pass\n"), _NOT_ACCEPTED),
    Made("constant_folding", _bytes(_W + b"x = ((1 << 99999) ** 9999) * 'x' * 10**9\n"),
         _NOT_ACCEPTED),
    Made("digits", _bytes(_W + b"x = " + b"9" * 200_000), _NOT_ACCEPTED),
    Made("many_names", _bytes(_W + b"".join(b"a%d=0\n" % n for n in range(20_000))),
         ("rejected",)),
    Made("one_long_line", _bytes(_W + b"x = '" + b"x" * 200_000 + b"'\n"), ("rejected",)),
    Made("invalid_escapes", _bytes(_W + b"x = '\\d\\e' is 3\n"), ("rejected", "error")),
    Made("form_feeds_and_carriage_returns", _bytes(_W.replace(b"\n", b"\r\n\x0c\r")),
         _NOT_ACCEPTED),
    Made("a_file_of_the_bound", _bytes(_W + b"#" * (MAX_BYTES - len(_W))), ("rejected",)),
)  # fmt: skip

COUNTS = {
    kind: sum(attack.kind == kind for attack in ATTACKS) + sum(made.kind == kind for made in MADE)
    for kind in CLASSES
}
