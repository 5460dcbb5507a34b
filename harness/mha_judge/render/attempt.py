"""What came of a call of one's own, in a terminal: shapes first, then the numbers."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from mha_judge.trying.attempt import Attempt

_WORDS = {
    "en": {
        "right": "{name} is right",
        "alone": "The reference gives {name}:",
        "expected": "expected",
        "yours": "yours",
        "reference": "reference",
        "weights": "The layer's weights, (out, in)",
        "printed": "The file printed, or Python warned:",
        "both refuse": "both refuse this",
        "raises": "it raises, and should answer",
        "answers": "it answers, and should raise",
    },
    "zh": {
        "right": "{name} 正确",
        "alone": "参考实现给出 {name}：",
        "expected": "应为",
        "yours": "您的",
        "reference": "参考实现",
        "weights": "该层的权重，(out, in)",
        "printed": "文件打印的内容，或 Python 的警告：",
        "both refuse": "两者都拒绝这个调用",
        "raises": "抛出了异常，而应当给出结果",
        "answers": "给出了结果，而应当抛出异常",
    },
}


def show(attempt: Attempt, console: Console, language: str) -> None:
    """Print the last call, its inputs, and each result beside what is expected."""
    words = _WORDS[language]
    console.print(Text(attempt.call, "bold"))
    if attempt.inputs:
        console.print(Text("  " + ", ".join(attempt.inputs), "dim"))
    console.print()
    if attempt.expected_error or attempt.got_error:
        _show_errors(attempt, console, words)
    for one in attempt.results:
        if one.fault:
            console.print(Text.assemble(("✗ ", "red"), (one.fault, "bold")))
        elif not attempt.got_error:
            console.print(
                Text.assemble(("✓ ", "green"), (words["right"].format(name=one.name), "bold"))
            )
        if attempt.got_error:
            console.print(Text(words["alone"].format(name=one.name), "dim"))
        if one.expected:
            what = "" if attempt.got_error else words["expected"]
            _line(console, what, one.expected, "" if one.fault else "dim")
        if one.fault and one.got:
            _line(console, words["yours"], one.got, "red")
        console.print()
    if attempt.weights:
        console.print(Text(words["weights"], "dim"))
        for name, numbers in attempt.weights:
            _line(console, name, numbers, "dim")
        console.print()
    if attempt.printed.strip():
        console.print(Text(words["printed"], "dim"))
        for line in attempt.printed.strip().splitlines():
            console.print(Text(f"  {line}", "dim"), soft_wrap=True)


def _show_errors(attempt: Attempt, console: Console, words: dict[str, str]) -> None:
    if not attempt.is_wrong:
        console.print(Text.assemble(("✓ ", "green"), (words["both refuse"], "bold")))
    elif attempt.got_error:
        console.print(Text.assemble(("✗ ", "red"), (words["raises"], "bold")))
    else:
        console.print(Text.assemble(("✗ ", "red"), (words["answers"], "bold")))
    if attempt.expected_error:
        _line(console, words["reference"], attempt.expected_error, "")
    if attempt.got_error:
        _line(console, words["yours"], attempt.got_error, "red" if attempt.is_wrong else "")
        if attempt.where:
            _line(console, "", attempt.where, "dim")
    console.print()


def _line(console: Console, name: str, text: str, style: str) -> None:
    """Print a value under its name; further lines of it below its first."""
    first, *others = text.splitlines() or [""]
    space = " " * max(1, 10 - cell_len(name))
    console.print(Text.assemble((f"  {name}{space}", "dim"), (first, style)), soft_wrap=True)
    for line in others:
        console.print(Text(f"{'':12}{line}".rstrip(), style), soft_wrap=True)
