"""The questions of a problem: their choices, and the explanation that is told afterwards.

They stand in `problems/<id>/questions.toml`. The order of the choices, and so their letters,
follows from the file's `version` and the question's id: a new version shuffles them anew.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mha_judge.bank.tables import read_table
from mha_judge.errors import BankError

LETTERS = "abcdefgh"
Title = Annotated[str, Field(min_length=5, max_length=160)]
Sentence = Annotated[str, Field(min_length=10, max_length=800)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Choice(_Model):
    """One answer to choose."""

    text: str
    text_zh: str
    why: str = ""
    """Why it is wrong; empty if it is right."""

    def text_in(self, language: str) -> str:
        return self.text_zh if language == "zh" else self.text


class WrongChoice(Choice):
    """A choice that is a known mistake, with the words for who made it."""

    why: Sentence
    title: Title
    """The misconception behind it, as a statement about the answer."""
    hint: Sentence
    """Leads to the mistake without giving the answer away."""
    title_zh: str = ""
    why_zh: str = ""
    hint_zh: str = ""

    def why_in(self, language: str) -> str:
        return (self.why_zh if language == "zh" else "") or self.why


class Question(_Model):
    """One entry of `ANSWERS`, or a function that gives a count."""

    id: str
    text: str = ""
    text_zh: str = ""
    right: Choice | None = None
    wrong: Annotated[list[WrongChoice], Field(max_length=len(LETTERS) - 1)] = []
    explanation: str
    """Told after grading, whatever the answer was."""
    explanation_zh: str = ""
    version: int = 1

    @property
    def choices(self) -> dict[str, Choice]:
        """The choices by letter."""
        if self.right is None:
            return {}
        every = sorted([self.right, *self.wrong], key=lambda choice: self._place(choice.text))
        return dict(zip(LETTERS, every, strict=False))

    @property
    def check(self) -> str:
        """Id of the check that grades it."""
        return self.id.replace("_", "-")

    @property
    def wrong_by_id(self) -> dict[str, WrongChoice]:
        """The wrong choices by the id that they have as known mistakes."""
        return {f"{self.check}-{number}": wrong for number, wrong in enumerate(self.wrong, 1)}

    def _place(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.version}:{self.id}:{text}".encode()).digest()

    def chosen(self, answer: object) -> Choice | None:
        """Return the choice that an answer names: by letter, in any dress, or by its whole text.

        Both together name it as well, copied from the statement, unless they disagree.
        """
        if not isinstance(answer, str):
            return None
        letter = answer.strip().strip("()[].:").lower()
        if letter in self.choices:
            return self.choices[letter]
        whole = self._with_text(answer)
        if whole is not None:
            return whole
        both = _LETTER_AND_TEXT.match(answer)
        named = self.choices.get(both["letter"].lower()) if both else None
        return named if both and named is self._with_text(both["text"]) else None

    def _with_text(self, text: str) -> Choice | None:
        plain = _plain(text)
        same = (c for c in self.choices.values() if plain in (_plain(c.text), _plain(c.text_zh)))
        return next(same, None)

    def text_in(self, language: str) -> str:
        return self.text_zh if language == "zh" else self.text

    def explanation_in(self, language: str) -> str:
        return ((self.explanation_zh if language == "zh" else "") or self.explanation).strip()

    def told(self, language: str) -> str:
        """Return what a candidate is told afterwards: the right choice, and why."""
        right = next((letter for letter, c in self.choices.items() if c == self.right), None)
        if right is None or self.right is None:
            return self.explanation_in(language)
        stop = "。" if language == "zh" else ". "
        text = self.right.text_in(language).rstrip(".。")
        return f"{right}) {text}{stop}{self.explanation_in(language)}"


_LETTER_AND_TEXT = re.compile(
    r"\s*[(\[]?(?P<letter>[A-Za-z])[)\].:、）．：]+\s*(?P<text>\S.*)", re.DOTALL
)


def read_questions(path: Path) -> dict[str, Question]:
    """Return the questions of a file by id, in order; none where there is no file.

    Raises:
        BankError: If the file is broken; names it, the question, the choice, the key, and the
            remedy.
    """
    if not path.is_file():
        return {}
    fields = read_table(path)
    try:
        version = fields.get("version", 1)
        items = [_question(path, q | {"version": version}) for q in fields["question"]]
    except (KeyError, TypeError) as error:
        raise BankError(
            f"{path}: has no list of questions; begin each question with [[question]]"
        ) from error
    return {question.id: question for question in items}


def _question(path: Path, fields: dict[str, Any]) -> Question:
    try:
        return Question.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        place = _place_of(fields, first["loc"])
        remedy = _REMEDIES.get(first["type"], "correct the value")
        raise BankError(f"{path}: {place}: {first['msg']}; {remedy}") from error


_REMEDIES = {"missing": "add the key", "extra_forbidden": "remove the key"}


def _place_of(fields: dict[str, Any], place: tuple[int | str, ...]) -> str:
    """Return the question, the choice and the key that a place in its fields stands for."""
    names = [str(fields.get("id", "a question without an id"))]
    match place:
        case ("wrong", int(index), *key):
            choice = fields["wrong"][index]
            text = choice.get("text", "") if isinstance(choice, dict) else choice
            names.append(f"wrong choice {index + 1} “{text}”")
        case _:
            key = list(place)
    return ": ".join([*names, ".".join(map(str, key))])


def as_markdown(questions: dict[str, Question], language: str) -> str:
    """Return the questions that have choices as a section of a statement."""
    return "\n".join(_lines(questions, language)).strip() + "\n"


def _lines(questions: dict[str, Question], language: str) -> Iterator[str]:
    for question in questions.values():
        if question.choices:
            yield f"### `{question.id}`\n"
            yield question.text_in(language)
            yield ""
            for letter, choice in question.choices.items():
                yield f"- **{letter})** {choice.text_in(language)}"
            yield ""


_TYPED = str.maketrans(
    {"−": "-", "–": "-", "—": "-", "‐": "-", "·": "*", "×": "*", "⋅": "*", "∙": "*", "•": "*"}
    | {"√": "sqrt", "φ": "phi", "’": "'", "^": None}
)
"""Signs that a keyboard lacks, as they are typed; a power may be written n², n2 or n^2."""


def _plain(text: str) -> str:
    """Return a text without what two people may type in two ways: case, spaces, signs."""
    text = unicodedata.normalize("NFKC", text.translate(_TYPED)).casefold()
    return "".join(text.replace("**", "").split()).rstrip(".。")
