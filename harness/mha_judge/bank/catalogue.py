"""Texts that are made from the bank: its page of Markdown, and parts of statements.

`python -m mha_judge.bank.catalogue` writes them into the checkout.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from mha_judge.bank import Bank
from mha_judge.bank.listing import TRACKS, ProblemSummary, tracks
from mha_judge.bank.problem import Entry, Problem
from mha_judge.bank.questions import Question, as_markdown
from mha_judge.bank.tables import read_table
from mha_judge.grading.checks.claims import CLAIMS
from mha_judge.grading.checks.corners.scores import LARGEST_SCORE

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


MANNERS_BEGIN, MANNERS_END = "<!-- however it is called -->\n", "<!-- end of that -->\n"


def with_manners(statement: str, problem: Problem, words: Mapping[str, str]) -> str:
    """Return a statement with what is graded however an answer is called, at its end.

    Args:
        statement: As it stands.
        problem: Whose it is.
        words: The texts of `manners.toml` in the statement's language.
    """
    head = statement.partition(MANNERS_BEGIN)[0].rstrip()
    parts = [words[name] for name in (*_manners(problem), *_domain(problem))]
    longest = max((e.domain.longest for e in problem.entry if e.domain is not None), default=0)
    largest, farthest = (f"{number:,}".replace(",", " ") for number in (LARGEST_SCORE, longest))
    text = "\n".join(parts).format(largest=largest, longest=farthest)
    return f"{head}\n\n{MANNERS_BEGIN}{text}\n\n{MANNERS_END}" if text else f"{head}\n"


def manners(bank: Bank) -> dict[str, dict[str, str]]:
    """Return the texts of `manners.toml` by language and name."""
    return read_table(bank.root / "problems" / "manners.toml")


def _manners(problem: Problem) -> list[str]:
    """Return the names of the texts that are true of a problem."""
    called = [entry for entry in problem.entry if entry.kind != "answers"]
    called = [entry for entry in called if entry.arrays != "none"]
    if not called:
        return []
    if all(entry.arrays == "numpy" for entry in called):
        return ["numpy"]
    if all(entry.kind == "object" for entry in called):
        return ["object"]
    if all(entry.arrays == "either" for entry in called):
        return ["numbers"]
    if not problem.has_gradients:
        return ["no_gradients"]
    return ["torch", *["layer"] * any(entry.kind == "module" for entry in called)]


def _domain(problem: Problem) -> list[str]:
    """Return the names of the texts on where a problem is graded."""
    domains = [entry.domain for entry in problem.entry if entry.domain is not None]
    if not domains:
        return []
    said = {
        "far": True,
        "scores": any(domain.scores for domain in domains),
        "weights": "autograd" not in problem.forbid and any(map(_gives_weights, problem.entry)),
        "values": any("v" in domain.shapes for domain in domains),
        "flags": any({*domain.flags} - {*domain.boolean} for domain in domains),
        "long": any(domain.long for domain in domains),
        "sizes": any(domain.fits or domain.divides for domain in domains),
        "outside": True,
    }
    return [name for name, holds in said.items() if holds]


def _gives_weights(entry: Entry) -> bool:
    """Return whether an entry returns weights that are graded, and through which gradients flow."""
    is_graded = "weights" in entry.returns and "weights" not in entry.ungraded
    flows = entry.domain is not None and entry.domain.gradients
    return is_graded and flows and entry.arrays == "torch"


def write_texts(bank: Bank) -> list[Path]:
    """Write all made texts anew, and return those that changed."""
    words = manners(bank)
    texts = {bank.root / "problems" / "README.md": page(bank)}
    for problem_id in bank.ids:
        for language in bank.languages(problem_id):
            name = "statement.md" if language == "en" else f"statement.{language}.md"
            text = bank.statement(problem_id, language)
            fresh = with_questions(text, bank.questions(problem_id), language)
            fresh = with_manners(fresh, bank.problem(problem_id), words[language])
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


def _cells(bank: Bank, line: ProblemSummary) -> tuple[str, ...]:
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
    requires, after = (
        ", ".join(f"`{one}`" for one in ids if one in bank.ids)
        for ids in (problem.requires, problem.after)
    )
    parts = [f"after {requires}"] if requires else []
    parts += [f"then {after}"] if after else []
    if parts:
        yield f"- `{problem.id}`: {'; '.join(parts)}"


def _checks(bank: Bank, problem_id: str) -> int:
    """Return how many checks a grader has."""
    tree = ast.parse(bank.grader(problem_id).read_text(encoding="utf-8"))
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    shared = [
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    written = sum(name.startswith("test_") for name in [*functions, *shared])
    return written + sum(claim.holds_for(bank.problem(problem_id)) for claim in CLAIMS)


if __name__ == "__main__":
    write_texts(Bank.builtin())
