"""Texts that are made from the bank: its page of Markdown, and the questions in statements.

`python -m mha_judge.catalogue` writes them into the checkout.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from mha_judge.bank import LANGUAGES, Bank
from mha_judge.listing import TRACKS, Line, tracks
from mha_judge.problem import Problem
from mha_judge.questions import Question, as_markdown

_HEAD = """\
# Problems

Made from the bank by `make texts`. Each problem has its statement in English and
Chinese beside this page, questions for the interviewer, a hidden grader, a reference, and the known
mistakes that the grader is certified against.
"""
_COLUMNS = ("id", "title", "what is written", "level", "minutes", "points", "checks", "mistakes")


def page(bank: Bank) -> str:
    """Return the page.

    Raises:
        BankError: If the bank is broken; names file, key and remedy.
    """
    return "\n".join([_HEAD, *_sections(bank)])


BEGIN, END = "<!-- questions -->\n", "<!-- end of questions -->\n"


def with_questions(statement: str, questions: dict[str, Question], language: str) -> str:
    """Return a statement with its questions as they stand in `questions.toml`."""
    head, begin, rest = statement.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        return statement
    return f"{head}{BEGIN}\n{as_markdown(questions, language)}\n{END}{tail}"


def write_texts(bank: Bank) -> list[Path]:
    """Write all made texts anew, and return those that changed."""
    texts = {bank.root / "problems" / "README.md": page(bank)}
    for problem_id in bank.ids:
        for language in LANGUAGES:
            name = "statement.md" if language == "en" else f"statement.{language}.md"
            text = bank.statement(problem_id, language)
            fresh = with_questions(text, bank.questions(problem_id), language)
            texts[bank.root / "problems" / problem_id / name] = fresh
    stale = [path for path, text in texts.items() if not path.is_file() or path.read_text() != text]
    for path in stale:
        path.write_text(texts[path], encoding="utf-8")
    return stale


def _sections(bank: Bank) -> Iterator[str]:
    for track, lines in tracks(bank).items():
        name = f"{track} · {TRACKS[track]}" if track in TRACKS else track
        yield f"## {name[0].upper()}{name[1:]}\n"
        yield f"| {' | '.join(_COLUMNS)} |"
        yield f"|{'---|' * len(_COLUMNS)}"
        for line in lines:
            yield f"| {' | '.join(_cells(bank, line))} |"
        yield ""
        for line in lines:
            yield from _order(bank.problem(line.id), bank)
        yield ""


def _cells(bank: Bank, line: Line) -> tuple[str, ...]:
    problem = bank.problem(line.id)
    return (
        f"[`{line.id}`]({line.id}/statement.md) ([中文]({line.id}/statement.zh.md))",
        f"{line.title} · {line.title_zh}",
        ", ".join(f"`{entry.name}`" for entry in problem.entry),
        str(line.level),
        str(line.minutes),
        str(line.points),
        str(_checks(bank, line.id)),
        str(len(bank.mistakes(line.id))),
    )


def _order(problem: Problem, bank: Bank) -> Iterator[str]:
    """Yield what to do before and after a problem, as an item of a list."""
    before, after = (
        ", ".join(f"`{one}`" for one in ids if one in bank.ids)
        for ids in (problem.before, problem.after)
    )
    parts = [f"after {before}"] if before else []
    parts += [f"then {after}"] if after else []
    if parts:
        yield f"- `{problem.id}`: {'; '.join(parts)}"


def _checks(bank: Bank, problem_id: str) -> int:
    """Return how many checks a grader has."""
    tree = ast.parse(bank.grader(problem_id).read_text(encoding="utf-8"))
    return sum(
        isinstance(node, ast.FunctionDef) and node.name.startswith("test_") for node in tree.body
    )


if __name__ == "__main__":
    write_texts(Bank.builtin())
