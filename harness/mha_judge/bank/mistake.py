"""Known mistakes: edits of the reference, with the words for who made them.

`reference/mistakes/<id>.toml` lists those of a problem. An edit is a text that stands once in the
reference, and what stands there instead; so a change to the reference that touches a mistake is
noticed. A mistake that is another program altogether names a file. What several problems share,
words, edits and the check that must fail, stands in `shared.toml`; an entry names it, and says
otherwise what is otherwise with its problem. Wrong choices of questions are mistakes too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mha_judge.bank.questions import Question, Sentence, Title
from mha_judge.bank.tables import read_table
from mha_judge.errors import BankError
from mha_judge.outcomes import Severity

SHARED = "shared.toml"
ANY = "any_number"
"""Stands for a number of the candidate's own."""
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d*)?(?:e-?\d+)?(?![\w.])")
_PROGRAMS = frozenset({"edits", "program", "variants"})
"""What says which program a mistake is; an entry has all of it from one place."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Edit(_Model):
    """A text of the reference, and what stands there instead."""

    old: Annotated[str, Field(min_length=1)]
    """Stands once in the reference."""
    new: str


class Variants(_Model):
    """The same mistake with other constants, or in other forms of an expression."""

    replace: Annotated[str, Field(min_length=1)]
    """What stands in the edits, or in the program."""
    by: Annotated[list[str], Field(min_length=1, max_length=12)]
    """What may stand there instead."""


class Numbered(_Model):
    """A wrong program with `ANY` in the place of a number."""

    source: str
    numbers: tuple[str, ...]
    """Those that the bank has there."""


class Words(_Model):
    """What several problems say of one mistake."""

    model_config = ConfigDict(extra="ignore")  # edits stand beside them

    name: str = ""
    """What it is called in `shared.toml`."""
    title: Title | None = None
    explanation: Sentence | None = None
    hint: Sentence | None = None
    severity: Severity | None = None


class Mistake(_Model):
    """What a mistake is called, what kills it, and how it is explained to who made it."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    title: Title
    """The misconception in a few words, as a statement about the answer."""
    killed_by: str
    """Id of the check that must fail."""
    explanation: Sentence
    """One or two sentences for the person who made it."""
    hint: Sentence
    """Leads to the mistake without giving the answer away."""
    severity: Severity | None = None
    """None is a fault of the bank's; the mistake is then marked as a slip."""
    source: str
    """The wrong program."""
    shared: Words | None = None
    """The words that it uses; it may say some of them otherwise itself."""
    others: Mapping[str, str] = {}
    """The programs with other constants that are the same misconception, by the constant."""
    with_any: tuple[Numbered, ...] = ()
    """The program and its variants, where one number in them may be another."""
    says: re.Pattern[str] | None = None
    """Its values are right: the failed check tells it, by a message in which this is found."""
    by_chance: bool = False
    """Its values are left to chance, so that no comparison can name it."""
    by_dropout: bool = False
    """Its values are left to chance, and right once torch's dropout does nothing."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where it shows: with `cuda` only a check on a GPU can fail it."""

    @property
    def has_values(self) -> bool:
        """Whether it shows in values that are the same every time, here too."""
        tells = self.says is not None
        return not (tells or self.by_chance or self.by_dropout or self.device == "cuda")


def read_mistakes(path: Path, reference: str, questions: Mapping[str, Question]) -> list[Mistake]:
    """Return the mistakes of a problem: those that a file lists, and the wrong choices.

    Args:
        path: `reference/mistakes/<id>.toml`, which need not be there.
        reference: The source that the edits belong to.
        questions: The problem's, by id.

    Raises:
        BankError: If a mistake is not what it must be; names file, mistake and remedy.
    """
    entries = read_table(path).get("mistake", [])
    shared = read_table(path.parent / SHARED)
    listed = [_read(path, entry, shared, reference) for entry in entries]
    mistakes = [*listed, *_wrong_choices(reference, questions)]
    for number, mistake in enumerate(mistakes):
        if mistake.id in {other.id for other in mistakes[:number]}:
            raise BankError(f"{path}: {mistake.id} is there twice; rename or remove one")
    return mistakes


def apply_edits(reference: str, edits: Sequence[Edit]) -> str:
    """Return the reference with every edit made.

    Raises:
        ValueError: If a text does not stand there exactly once, or two edits meet.
    """
    for edit in edits:
        count = reference.count(edit.old)
        if count != 1:
            remedy = "include more of the text around it" if count else "copy it from there again"
            raise ValueError(f"{edit.old!r} occurs {count} times in the reference; {remedy}")
    changed, end = "", 0
    for edit in sorted(edits, key=lambda edit: reference.index(edit.old)):
        start = reference.index(edit.old)
        if start < end:
            raise ValueError(f"{edit.old!r} overlaps the edit before it; merge the two")
        changed += reference[end:start] + edit.new
        end = start + len(edit.old)
    return changed + reference[end:]


def _read(path: Path, entry: Any, shared: Mapping[str, Any], reference: str) -> Mistake:
    name = entry.get("id", entry.get("shared")) if isinstance(entry, dict) else None
    where = f"{path}: {name or 'a mistake without an id'}"
    try:
        fields = dict(entry)
        words = fields.pop("shared", None)
        if words is not None:
            if words not in shared:
                raise ValueError(f"{SHARED} has no {words!r}; add it, or write the texts here")
            common = dict(shared[words])
            if not _PROGRAMS.isdisjoint(fields):
                common = {key: value for key, value in common.items() if key not in _PROGRAMS}
            spoken = Words.model_validate({**common, "name": words})
            fields = {"id": words, **common, **fields, "shared": spoken}
        return Mistake(**_with_programs(path, fields, reference))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise BankError(f"{where}: {key}: {first['msg']}; correct the entry") from error
    except (OSError, TypeError, ValueError) as error:
        raise BankError(f"{where}: {error}") from error


def _with_programs(path: Path, fields: dict[str, Any], reference: str) -> dict[str, Any]:
    """Return an entry's fields with the programs that it describes in the place of its edits."""
    edits = [Edit.model_validate(edit) for edit in fields.pop("edits", [])]
    program = fields.pop("program", None)
    variants = Variants.model_validate(fields.pop("variants")) if "variants" in fields else None
    if bool(edits) == bool(program):
        raise ValueError("must have either edits or a program; add one, or remove one")

    def made(put: Callable[[str], str] = str) -> str:
        if edits:
            return apply_edits(reference, [Edit(old=e.old, new=put(e.new)) for e in edits])
        return put((path.with_suffix("") / str(program)).read_text(encoding="utf-8"))

    if variants is None:
        return {**fields, "source": made()}

    def varied(constant: str) -> str:
        return made(partial(_replaced, variants.replace, constant))

    numbers: dict[str, list[str]] = {}
    for constant in (variants.replace, *variants.by):
        if len(found := _NUMBER.findall(constant)) == 1:
            numbers.setdefault(_NUMBER.sub(ANY, constant), []).extend(found)
    return {
        **fields,
        "source": made(),
        "others": {constant: varied(constant) for constant in variants.by},
        "with_any": [{"source": varied(one), "numbers": known} for one, known in numbers.items()],
    }


def _replaced(old: str, new: str, text: str) -> str:
    return text.replace(old, new)


def _wrong_choices(reference: str, questions: Mapping[str, Question]) -> Iterator[Mistake]:
    for question in questions.values():
        for name, choice in question.wrong_by_id.items():
            yield Mistake(
                id=name,
                title=choice.title,
                killed_by=question.check,
                explanation=choice.why,
                hint=choice.hint,
                severity=Severity.MISCONCEPTION,
                source=f"{reference}\nANSWERS[{question.id!r}] = {choice.text!r}\n",
            )
