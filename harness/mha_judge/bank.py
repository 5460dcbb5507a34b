"""The bank: problems with their graders and references, found in a folder and validated."""

from __future__ import annotations

import difflib
import functools
import re
import sysconfig
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from mha_judge.errors import BankError, UsageError
from mha_judge.sandbox.base import Limits

LANGUAGES = ("en", "zh")
Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=60)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=80)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Role(_Model):
    """One weight map of a module, and where the reference keeps it."""

    name: Name
    """What the candidate's own names are matched against: q, k, v, out, …"""
    reference: str
    """Path of the reference's Linear."""
    heads: Name
    """Constructor argument that says over how many heads the map's features are split."""
    split: Literal["out", "in"] = "out"
    """Whether the heads divide the map's outputs or its inputs."""


class Probe(_Model):
    """One input on which an arrangement of weights is tried."""

    constructor: dict[str, int]
    inputs: list[list[int]]
    """Shape of each tensor argument, in order."""


class Entry(_Model):
    """What the judge calls in a candidate's file."""

    name: Name
    kind: Literal["function", "module", "answers"]
    aliases: list[Name] = []
    classes: list[Name] = []
    """Names of classes that serve as a function once they are made."""
    constructor: list[Name] = []
    """Arguments of a module's constructor, in the order of the contract."""
    arguments: list[Name] = []
    """Arguments of the call, in the order of the contract."""
    returns: list[Name] = ["output"]
    """Names of what a call returns; all but the first `required_returns` may be left out."""
    required_returns: int = 1
    roles: list[Role] = []
    """Weight maps in order of definition."""
    probe: Probe | None = None
    sizes: dict[str, str] = {}
    """Sizes for constructor parameters outside the contract: `head_dim = "q:-1"` (last of q)."""

    @model_validator(mode="after")
    def _module_is_complete(self) -> Entry:
        if self.kind == "module" and (not self.roles or self.probe is None):
            raise ValueError("an entry of kind 'module' needs roles and a probe")
        return self


class Problem(_Model):
    """One exercise, as its `problem.toml` describes it."""

    id: Identifier
    title: str
    title_zh: str
    summary: str
    track: str
    level: Annotated[int, Field(ge=1, le=5)]
    minutes: Annotated[int, Field(ge=1, le=240)]
    forbid: list[Literal["fused-attention", "python-loops"]] = []
    """What the policy of this problem rules out."""
    limits: Limits = Limits()
    hints: dict[str, str]
    """A hint for each category of check."""
    entry: Annotated[list[Entry], Field(min_length=1)]

    def entry_named(self, name: str) -> Entry | None:
        return next((entry for entry in self.entry if entry.name == name), None)


@dataclass(frozen=True)
class Bank:
    """A folder with `problems/`, `graders/` and `reference/`."""

    root: Path

    @classmethod
    def at(cls, root: Path) -> Bank:
        """Return the bank in a folder.

        Raises:
            BankError: If the folder is not a bank.
        """
        for name in ("problems", "graders", "reference"):
            if not (root / name).is_dir():
                raise BankError(
                    f"{root} is not a bank: it has no folder {name}/; name another folder"
                )
        return cls(root.resolve())

    @classmethod
    def builtin(cls) -> Bank:
        """Return the bank of the checkout, or the one installed with the package."""
        checkout = Path(__file__).resolve().parents[2]
        installed = Path(sysconfig.get_path("data")) / "share" / "mha-judge"
        for root in (checkout, installed, *_recorded_roots()):
            if (root / "problems").is_dir() and (root / "graders").is_dir():
                return cls.at(root)
        raise BankError("the built-in bank is missing; install mha-judge again, or pass --bank DIR")

    @functools.cached_property
    def ids(self) -> list[str]:
        """Ids of all problems, in alphabetical order."""
        folders = (self.root / "problems").iterdir()
        return sorted(folder.name for folder in folders if (folder / "problem.toml").is_file())

    def problem(self, problem_id: str) -> Problem:
        """Return one problem.

        Raises:
            UsageError: If there is none of this id; names those that are near.
            BankError: If its `problem.toml` is broken; names file, key and remedy.
        """
        if problem_id not in self.ids:
            near = difflib.get_close_matches(problem_id, self.ids, n=3, cutoff=0.4)
            known = (
                f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(self.ids)}"
            )
            raise UsageError(f"no problem {problem_id!r}; {known}")
        return _read_problem(self.root / "problems" / problem_id / "problem.toml", problem_id)

    def problems(self) -> list[Problem]:
        return [self.problem(problem_id) for problem_id in self.ids]

    def statement(self, problem_id: str, language: str) -> str:
        name = "statement.md" if language == "en" else f"statement.{language}.md"
        return self._text(self.root / "problems" / problem_id / name)

    def starter(self, problem_id: str) -> str:
        return self._text(self.root / "problems" / problem_id / "starter.py")

    def grader(self, problem_id: str) -> Path:
        return self._file(self.root / "graders" / f"test_{module_name(problem_id)}.py")

    def reference(self, problem_id: str) -> Path:
        return self._file(self.root / "reference" / f"{module_name(problem_id)}.py")

    def _file(self, path: Path) -> Path:
        if not path.is_file():
            raise BankError(f"{path} is missing; the problem cannot be graded without it")
        return path

    def _text(self, path: Path) -> str:
        return self._file(path).read_text(encoding="utf-8")


def module_name(problem_id: str) -> str:
    """Return the name of a problem's Python files: `masked-mha` is `masked_mha`."""
    return problem_id.replace("-", "_")


def _read_problem(path: Path, problem_id: str) -> Problem:
    try:
        fields = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BankError(f"{path}: not valid TOML: {error}; mend the file") from error
    try:
        problem = Problem.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "(the whole file)"
        remedy = _remedy(first["type"], str(first["loc"][-1]) if first["loc"] else "")
        raise BankError(f"{path}: {key}: {first['msg']}; {remedy}") from error
    if problem.id != problem_id:
        raise BankError(
            f"{path}: id: is {problem.id!r}; it must be the folder's name, {problem_id!r}"
        )
    return problem


def _remedy(kind: str, key: str) -> str:
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(key, [*Problem.model_fields, *Entry.model_fields], n=1)
        return f"did you mean {near[0]!r}?" if near else "remove the key"
    if kind == "missing":
        return "add the key"
    return "correct the value"


def _recorded_roots() -> list[Path]:
    """Return where the installer says it put the bank, for schemes other than the default."""
    from importlib.metadata import PackageNotFoundError, files

    try:
        recorded = files("mha-judge") or []
    except PackageNotFoundError:
        return []
    roots = {
        Path(str(file.locate())).resolve().parents[2]
        for file in recorded
        if re.search(r"share/mha-judge/problems/[^/]+/problem\.toml$", str(file))
    }
    return sorted(roots)
