"""The files that a new problem begins with, and what of them is still to be filled in.

Every place that wants an author's words or code holds the mark; `verify` lists those that are left.
"""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from string import Template

from mha_judge.bank import Bank, module_name
from mha_judge.bank.problem import IDENTIFIER
from mha_judge.errors import UsageError

MARK = "FILL IN"
MAX_ID = 60
_RESERVED = "shared"  # shared.toml holds the words that mistakes of several problems share

_PROBLEM = """\
# FILL IN: track, level, minutes and points below, then remove this line
id = "$id"
title = "FILL IN: the title in English"
title_zh = "FILL IN: the title in Chinese, 中文标题"
summary = "FILL IN: one line that says what is written"
track = "basics"
level = 2
minutes = 25
points = 20
requires = []  # FILL IN: ids of problems to solve first
after = []  # FILL IN: ids of problems to go on with
forbid = ["fused-attention"]

[[entry]]
# FILL IN: the contract. For a function: kind = "function", and no constructor, roles or probe
name = "$name"
kind = "module"
aliases = []
constructor = ["embed_dim", "num_heads"]
arguments = ["x"]

[[entry.roles]]
name = "q"
reference = "q_proj"
heads = "num_heads"

[[entry.roles]]
name = "k"
reference = "k_proj"
heads = "num_heads"

[[entry.roles]]
name = "v"
reference = "v_proj"
heads = "num_heads"

[[entry.roles]]
name = "out"
reference = "out_proj"
heads = "num_heads"
split = "in"

[entry.probe]
constructor = { embed_dim = 30, num_heads = 5 }
inputs = [[2, 7, 30]]

[hints]
shape = "FILL IN: a hint for answers that fail a check of shapes"
values = "FILL IN: a hint for answers that fail a check of values"
"""

_STATEMENT = """\
# FILL IN: the title in English

FILL IN: what is written, and its equation.

## Contract

```text
class $name(embed_dim, num_heads)
    forward(x) -> output
```

FILL IN: every shape, the mask convention, what raises, what may be used: what one has to know to
begin, on one screen.

## Example

```python
FILL IN: an example with an assert, that can be checked by hand
```

## Fine print

FILL IN: how weights are found, other names that are accepted, and all further rules.

## What is graded

FILL IN: a line for each group of checks.
"""

_STATEMENT_ZH = """\
# FILL IN: the title in Chinese, 中文标题

FILL IN: what is written, and its equation, in Chinese.

## 约定

```text
class $name(embed_dim, num_heads)
    forward(x) -> output
```

FILL IN: every shape, the mask convention, what raises, what may be used, in Chinese.

## 示例

```python
FILL IN: the same example; only its comments are translated
```

## 细则

FILL IN: how weights are found and all further rules, in Chinese.

## 评分内容

FILL IN: a line for each group of checks, in Chinese.
"""

_INTERVIEWER = """\
## FILL IN: a question to ask afterwards

FILL IN: what a good answer contains, and what a weak one says. Three questions or more.
"""

_INTERVIEWER_ZH = """\
## FILL IN: the same question in Chinese, 中文问题

FILL IN: what a good answer contains, in Chinese.
"""

_STARTER = '''\
# problem: $id
"""FILL IN: the title."""

from torch import Tensor, nn


class $name(nn.Module):
    """FILL IN: the equation."""

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        # TODO: the maps
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """FILL IN: shapes of what goes in and what comes out."""
        # TODO
        raise NotImplementedError
'''

_REFERENCE = '''\
"""FILL IN: the title."""
# B batch  L length  H heads  D head size  E width, E = H·D

from torch import Tensor, nn


class $name(nn.Module):
    """FILL IN: equation, shapes, errors and source."""

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: Tensor) -> Tensor:
        raise NotImplementedError("FILL IN: a plain and correct answer, a shape on every line")
'''

_GRADER = '''\
"""FILL IN: the equation in words."""

# B batch  L length  H heads  D head size  E = H·D width

from mha_judge.grading import assert_close, check

E, H = 33, 3  # D = 11
B, L = 2, 7


@check("Is made with (embed_dim, num_heads)", category="shape", points=2)
def test_constructor(candidate, draw):
    candidate.$name(embed_dim=E, num_heads=H)


@check("Returns (B, L, E)", category="shape", points=2, after="constructor")
def test_output_shape(candidate, draw):
    answer = candidate.$name(embed_dim=E, num_heads=H)(draw.normal(B, L, E))

    assert answer.output.shape == (B, L, E)


@check("Right values on several random shapes", category="values", points=5, after="output_shape")
def test_values(candidate, draw):
    for _ in range(3):
        n = draw.sizes("B L H D", (2, 3, 5, 7, 11))
        width = n["H"] * n["D"]
        layer = candidate.$name(embed_dim=width, num_heads=n["H"])

        assert_close(layer(draw.normal(n["B"], n["L"], width)), "output")


# FILL IN: checks of masks, numerics, gradients, robustness and policy; graders/shared has many
'''

_MISTAKES = """\
# FILL IN: an entry for each misconception; every check needs one that fails it

[[mistake]]
id = "values-not-projected"
title = "FILL IN: the misconception as a statement about the answer"
severity = "misconception"
killed_by = "values"
explanation = "FILL IN: one or two sentences for the person who made it"
hint = "FILL IN: what leads to the mistake without giving the answer away"

[[mistake.edits]]
old = "self.v_proj = nn.Linear(embed_dim, embed_dim)"
new = "self.v_proj = nn.Identity()"
"""

_HINTS = """\
# FILL IN: the ladder of the problem, and of each mistake; never the code itself

[problem]
question = "FILL IN: something to ask oneself who does not get on"
where = "FILL IN: which step to look at"
change = "FILL IN: what to do, in words"
question_zh = "FILL IN: the same in Chinese, 中文"
where_zh = "FILL IN: 中文"
change_zh = "FILL IN: 中文"

[values-not-projected]
where = "FILL IN: where to look, for who made this mistake"
change = "FILL IN: what to change, in words"
title_zh = "FILL IN: 中文"
explanation_zh = "FILL IN: 中文"
hint_zh = "FILL IN: 中文"
where_zh = "FILL IN: 中文"
change_zh = "FILL IN: 中文"
"""

_MUTANTS = """\
# Changes to the reference that no check can notice, or need notice, and why.
"""

_AGREEMENT = '''\
"""FILL IN: what the reference is compared with."""

from reference.$module import $name


def cases():
    """Yield a name, the reference's value and that of another implementation, in float64."""
    own = $name(33, 3).double()
    raise NotImplementedError(f"FILL IN: an implementation from elsewhere, beside {own}")
'''

_TEXTS = {
    "problems/$id/problem.toml": _PROBLEM,
    "problems/$id/statement.md": _STATEMENT,
    "problems/$id/statement.zh.md": _STATEMENT_ZH,
    "problems/$id/interviewer.md": _INTERVIEWER,
    "problems/$id/interviewer.zh.md": _INTERVIEWER_ZH,
    "problems/$id/starter.py": _STARTER,
    "reference/$module.py": _REFERENCE,
    "graders/test_$module.py": _GRADER,
    "reference/mistakes/$id.toml": _MISTAKES,
    "reference/hints/$id.toml": _HINTS,
    "reference/mutants/$module.toml": _MUTANTS,
    "reference/agreement/$module.py": _AGREEMENT,
}
"""In the order in which they are best filled in."""

_OPTIONAL = ("reference/mutants", "reference/agreement", "reference/hints")
_NEEDED = tuple(path for path in _TEXTS if not path.startswith(_OPTIONAL))
"""What no problem can do without."""


def write_problem(bank: Bank, problem_id: str) -> list[Path]:
    """Write the files of a new problem, and return them; nothing is written if one is there.

    Raises:
        UsageError: If the id is none, or is taken, or a file is there or cannot be written.
    """
    _require_new(bank, problem_id)
    texts = {
        bank.root / _filled(path, problem_id): _filled(text, problem_id)
        for path, text in _TEXTS.items()
    }
    there = [str(path) for path in texts if path.exists()]
    if there:
        raise UsageError(
            f"{', '.join(there)} is there already; remove it or choose another id; "
            "nothing was written"
        )
    written: list[Path] = []
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                written.append(path)
                file.write(text)
    except OSError as error:
        for path in written:
            path.unlink()
        raise UsageError(
            f"{error.filename} cannot be written: {error.strerror}; pass --bank DIR, before the "
            "command, with a bank of your own; nothing was written"
        ) from error
    return written


def placeholders(bank: Bank, problem_id: str) -> list[str]:
    """Return what is still to be filled in, with file and line, a sentence each."""
    names = [_filled(path, problem_id) for path in _TEXTS]
    return [
        f"{name}, line {line}: still to be filled in: {what}"
        for name in names
        if (bank.root / name).is_file()
        for line, what in _marked(bank.root / name)
    ]


def missing(bank: Bank, problem_id: str) -> list[str]:
    """Return which files that every problem has this one lacks, by their paths in the bank.

    A bank of one's own may do with one language.
    """
    own = bank.root != Bank.builtin().root
    needed = (path for path in _NEEDED if not (own and path.endswith(".zh.md")))
    names = [_filled(path, problem_id) for path in needed]
    return [name for name in names if not (bank.root / name).is_file()]


def _marked(path: Path) -> list[tuple[int, str]]:
    """Return the number of every line with the mark, and what is wanted there."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(number, _wanted(line)) for number, line in enumerate(lines, 1) if MARK in line]


def _wanted(line: str) -> str:
    return line.partition(MARK)[2].strip(" :\"'.()#") or line.strip()


def _require_new(bank: Bank, problem_id: str) -> None:
    name = problem_id[:80]
    if not re.fullmatch(IDENTIFIER, problem_id) or len(problem_id) > MAX_ID:
        raise UsageError(
            f"{name!r} is not a valid id; write lower-case letters, digits and single hyphens, "
            f"begin with a letter, and use at most {MAX_ID} characters, as in talking-heads"
        )
    if problem_id == _RESERVED or keyword.iskeyword(module_name(problem_id)):
        raise UsageError(f"{name!r} is a reserved name and cannot be an id; choose another")
    if problem_id in bank.ids:
        raise UsageError(
            f"there is a problem {name!r} in {bank.root}; choose another id, or edit its files"
        )


def _filled(text: str, problem_id: str) -> str:
    name = "".join(word.capitalize() for word in problem_id.split("-"))
    return Template(text).substitute(id=problem_id, module=module_name(problem_id), name=name)
