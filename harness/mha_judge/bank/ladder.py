"""Ladders of hints: a question, where to look, what to change; for each problem and each mistake.

`reference/hints/<id>.toml` has the ladder of the problem itself (`[problem]`), and for each of its
known mistakes the rungs beyond the mistake's own hint, and its words in Chinese. Words that several
problems share stand in `reference/hints/shared.toml`, under the name they have among the mistakes.
A wrong choice of a question has its words beside the question. No rung holds the code itself.
"""

from __future__ import annotations

import difflib
import io
import re
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from mha_judge.bank import LANGUAGES
from mha_judge.bank.mistake import SHARED
from mha_judge.bank.questions import Sentence, Title
from mha_judge.bank.tables import read_table
from mha_judge.errors import BankError

if TYPE_CHECKING:
    from mha_judge.bank import Bank
    from mha_judge.bank.mistake import Mistake

FOLDER = Path("reference") / "hints"
PRICES = (2.0, 5.0, 10.0)
"""What each rung costs, in points of the problem's score."""
RUNGS = ("question", "where", "change")
"""What each rung tells: something to ask oneself, where to look, what to change."""

_LEAST_CODE = 8  # letters; what is shorter is found in plain words by chance
_NEAR = 3  # words of code between two changes that are one
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Problem(_Model):
    question: Sentence
    where: Sentence
    change: Sentence
    question_zh: Sentence | None = None
    where_zh: Sentence | None = None
    change_zh: Sentence | None = None


class _Mistake(_Model):
    """The words of a mistake that do not stand beside it; those it shares may be left out."""

    where: Sentence | None = None
    change: Sentence | None = None
    title_zh: Title | None = None
    explanation_zh: Sentence | None = None
    hint_zh: Sentence | None = None
    where_zh: Sentence | None = None
    change_zh: Sentence | None = None


@dataclass(frozen=True)
class Ladder:
    """The hints for one mistake, or for a problem, in one language."""

    title: str
    """The mistake's; empty for a problem."""
    explanation: str
    rungs: tuple[str, ...]
    """In the order of `RUNGS`; fewer where a bank has not written all."""


@dataclass(frozen=True)
class Ladders:
    """All ladders of one problem in one language."""

    problem: Ladder
    mistakes: Mapping[str, Ladder]
    """By the mistake's id."""

    def of(self, mistake: str) -> Ladder | None:
        """Return the ladder of a mistake, or that of the problem if its id is empty."""
        return self.mistakes.get(mistake) if mistake else self.problem


def read_ladders(bank: Bank, problem_id: str, language: str) -> Ladders:
    """Return the ladders of a problem.

    A bank that has none for it gets what it has: a mistake's own hint is the first rung of its
    ladder. Words that are not there in Chinese come in English.

    Raises:
        BankError: If a file of them is broken; names file, place and remedy.
    """
    texts = _read(bank, problem_id)
    suffix = "" if language == "en" else f"_{language}"

    def of(table: Mapping[str, str], key: str) -> str:
        return table.get(key + suffix) or table.get(key, "")

    def ladder(table: Mapping[str, str], first: str) -> Ladder:
        rungs = [of(table, first), of(table, "where"), of(table, "change")]
        told = tuple(rung.strip() for rung in rungs if rung)
        return Ladder(of(table, "title"), of(table, "explanation").strip(), told)

    mistakes = {name: ladder(table, "hint") for name, table in texts.mistakes.items()}
    return Ladders(ladder(texts.problem, "question"), mistakes)


def faults_of(bank: Bank, problem_id: str) -> list[str]:
    """Return what the ladders of a problem lack, or tell too much of, a sentence each."""
    try:
        texts = _read(bank, problem_id)
    except BankError as error:
        return [str(error)]
    faults = [] if texts.problem else [f"{_path(bank, problem_id)} has no table [problem]"]
    reference = bank.reference(problem_id).read_text(encoding="utf-8")
    code = {m.id: _right_code(reference, m.source) for m in bank.mistakes(problem_id)}
    suffixes = ("", "_zh")[: len(bank.languages(problem_id))]
    for name, table in {"problem": texts.problem, **texts.mistakes}.items():
        wanted = ("title", "explanation", "hint", "where", "change") if name in code else RUNGS
        for key in wanted if table or name in code else ():
            faults += [
                f"{name} has no `{key}{suffix}`; write it in {_path(bank, problem_id)}"
                for suffix in suffixes
                if not table.get(key + suffix)
            ]
        faults += [
            f"{name}: `{key}` is not in Chinese"
            for key, text in table.items()
            if key.endswith("_zh") and text and not _CHINESE.search(text)
        ]
        faults += [
            f"{name}: `{key}` holds the code that is to be found, {told!r}; say it in words"
            for key, text in table.items()
            if key.removesuffix("_zh") in ("hint", *RUNGS)
            for told in code.get(name, ())
            if told in _bare(text)
        ]
    return faults


@dataclass(frozen=True)
class _Texts:
    problem: Mapping[str, str]
    mistakes: Mapping[str, Mapping[str, str]]


def _read(bank: Bank, problem_id: str) -> _Texts:
    path = _path(bank, problem_id)
    own = read_table(path)
    shared = read_table(path.parent / SHARED)
    problem = _fields(_Problem, own.pop("problem"), path, "problem") if "problem" in own else {}
    mistakes = bank.mistakes(problem_id)
    strange = sorted(own.keys() - {mistake.id for mistake in mistakes})
    if strange:
        raise BankError(f"{path}: there is no mistake {strange[0]!r}; rename or remove its table")
    choices = _choices(bank, problem_id)
    return _Texts(
        problem,
        {m.id: choices.get(m.id) or _of_mistake(m, own, shared, path) for m in mistakes},
    )


def _of_mistake(
    mistake: Mistake, own: Mapping[str, Any], shared: Mapping[str, Any], path: Path
) -> dict[str, str]:
    """Return all words of a mistake; what it says itself in English is not said by shared words."""
    english = {key: getattr(mistake, key) for key in ("title", "explanation", "hint")}
    common = {}
    if mistake.shared is not None and mistake.shared.name in shared:
        table = shared[mistake.shared.name]
        common = _fields(_Mistake, table, path.parent / SHARED, mistake.shared.name)
        for key, text in english.items():
            if getattr(mistake.shared, key) != text:
                common.pop(f"{key}_zh", None)
    fields = _fields(_Mistake, own.get(mistake.id, {}), path, mistake.id)
    return english | common | fields


def _choices(bank: Bank, problem_id: str) -> dict[str, dict[str, str]]:
    """Return the words of the mistakes that are wrong choices of questions."""
    found = {}
    for question in bank.questions(problem_id).values():
        for name, choice in question.wrong_by_id.items():
            found[name] = {
                "title": choice.title,
                "title_zh": choice.title_zh,
                "explanation": choice.why,
                "explanation_zh": choice.why_zh,
                "hint": choice.hint,
                "hint_zh": choice.hint_zh,
                "where": f"Look at the question “{question.text}” once more.",
                "where_zh": f"请再看一遍这个问题：“{question.text_zh}”",
                "change": choice.why,
                "change_zh": choice.why_zh,
            }
    return found


def _fields(model: type[_Model], table: Any, path: Path, name: str) -> dict[str, str]:
    try:
        return model.model_validate(table).model_dump(exclude_none=True)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise BankError(f"{path}: {name}: {key}: {first['msg']}; correct the table") from error


def _path(bank: Bank, problem_id: str) -> Path:
    return bank.root / FOLDER / f"{problem_id}.toml"


def _right_code(reference: str, wrong: str) -> set[str]:
    """Return what stands in the reference where the mistake has something else, without spaces."""
    right, made = _tokens(reference), _tokens(wrong)
    matcher = difflib.SequenceMatcher(a=right, b=made, autojunk=False)
    changed = [(start, end) for kind, start, end, *_ in matcher.get_opcodes() if kind != "equal"]
    joined: list[tuple[int, int]] = []
    for start, end in changed:
        if joined and start - joined[-1][1] <= _NEAR:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    runs = ("".join(right[start:end]) for start, end in joined)
    return {run for run in runs if len(run) >= _LEAST_CODE and re.search(r"[(\[.=]", run)}


def _tokens(source: str) -> list[str]:
    """Return the words of a program, without comments, docstrings and what only lays it out."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return source.split()
    skip = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    return [t.string for t in tokens if t.type not in skip and not t.string.startswith('"""')]


def _bare(text: str) -> str:
    return re.sub(r"[\s`]", "", text)


assert LANGUAGES == ("en", "zh")  # the keys of the tables end so
