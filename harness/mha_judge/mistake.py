"""A known mistake: a wrong candidate file whose docstring says, as TOML, what is wrong with it."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mha_judge.errors import BankError

Sentence = Annotated[str, Field(min_length=10, max_length=800)]


class Variants(BaseModel):
    """The same mistake with other constants."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    replace: Annotated[str, Field(min_length=1)]
    """What stands in the file."""
    by: Annotated[list[str], Field(min_length=1, max_length=12)]
    """What may stand there instead."""


class Mistake(BaseModel):
    """What a mistake is called, what kills it, and how it is explained to who made it."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    id: str
    """The file's name, with hyphens."""
    path: Path
    title: Annotated[str, Field(min_length=5, max_length=100)]
    """The misconception in a few words, as a statement about the answer."""
    killed_by: str
    """Id of the check that must fail."""
    explanation: Sentence
    """One or two sentences for the person who made it."""
    hint: Sentence
    """Leads to the mistake without giving the answer away."""
    variants: Variants | None = None
    """Other constants that are the same misconception."""
    by_check: bool = False
    """Its values are right: the check that fails names it, not a value that is compared."""
    says: re.Pattern[str] = re.compile("")
    """With `by_check`: a regular expression that the failed check's message must hold."""
    by_chance: bool = False
    """Its values are left to chance, so that no comparison can name it."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where it shows: with `cuda` only a check on a GPU can fail it."""

    @property
    def has_values(self) -> bool:
        """Whether it shows in values that are the same every time, here too."""
        return not (self.by_check or self.by_chance or self.device == "cuda")


def read_mistakes(folder: Path) -> list[Mistake]:
    """Return the mistakes in a folder, in alphabetical order; none if there is no folder.

    Raises:
        BankError: If a file does not say what it must; names file, key and remedy.
    """
    return [_read(path) for path in sorted(folder.glob("*.py"))]


def _read(path: Path) -> Mistake:
    try:
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")), clean=False)
        fields = tomllib.loads(text or "")
    except (SyntaxError, UnicodeDecodeError) as error:
        raise BankError(f"{path}: not valid Python: {error}; mend the file") from error
    except tomllib.TOMLDecodeError as error:
        raise BankError(f"{path}: the docstring is not TOML: {error}; mend it") from error
    try:
        return Mistake(id=path.stem.replace("_", "-"), path=path, **fields)
    except (ValidationError, TypeError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else None
        what = f"{'.'.join(map(str, first['loc']))}: {first['msg']}" if first else str(error)
        raise BankError(f"{path}: {what}; mend its docstring") from error
