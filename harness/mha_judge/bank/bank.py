"""The bank: a folder with problems, their graders and references.

Nothing here imports pydantic before a whole problem is asked for: listing ids must be quick.
"""

from __future__ import annotations

import difflib
import functools
import re
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mha_judge.errors import BankError, UsageError
from mha_judge.file_versions import FileVersion, version_of

if TYPE_CHECKING:
    from mha_judge.bank.mistake import Mistake
    from mha_judge.bank.problem import Problem
    from mha_judge.bank.questions import Question
    from mha_judge.bank.vocabulary import Vocabulary

LANGUAGES = ("en", "zh")
_FINE_PRINT = re.compile(r"^## (Fine print|细则)$", re.MULTILINE)
"""The heading in a statement below which stands what one need not know to begin."""
VOCABULARY = "vocabulary.toml"
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)

_FOLDERS = ("problems", "graders", "reference")


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
        for name in _FOLDERS:
            if not (root / name).is_dir():
                raise BankError(f"{root} is not a bank: it has no folder {name}/; check the path")
        return cls(root.resolve())

    @classmethod
    def to_begin(cls, root: Path) -> Bank:
        """Return the bank in a folder; one without problems if the folder is empty or not there.

        Raises:
            BankError: If there is something else in the folder.
            UsageError: If it cannot be read, or is the built-in bank's.
        """
        try:
            if not root.exists() or not any(root.iterdir()):
                return cls(root.resolve())
        except OSError as error:
            raise UsageError(f"{root} cannot be a bank: {error.strerror}") from error
        bank = cls.at(root)
        if bank == cls.builtin():
            raise UsageError(f"{root} is the built-in bank; pass --builtin to change it")
        return bank

    @classmethod
    def of_checkout(cls) -> Bank:
        """Return the built-in bank, to be changed.

        Raises:
            UsageError: If it is an installation's, where changes would be lost.
        """
        bank = cls.builtin()
        if not (bank.root / "pyproject.toml").is_file():
            raise UsageError(
                f"the built-in bank is an installation's, in {bank.root}; "
                "clone mha-judge to change it, or begin a bank of your own with --bank DIR"
            )
        return bank

    @classmethod
    def builtin(cls) -> Bank:
        """Return the bank of the checkout, or the one installed with the package."""
        for root in _roots():
            if (root / "problems").is_dir() and (root / "graders").is_dir():
                return cls.at(root)
        raise BankError("the built-in bank is missing; install mha-judge again, or pass --bank DIR")

    @functools.cached_property
    def ids(self) -> list[str]:
        """Ids of all problems, in alphabetical order."""
        return sorted(path.parent.name for path in self.root.glob("problems/*/problem.toml"))

    def problem(self, problem_id: str) -> Problem:
        """Return one problem.

        Raises:
            UsageError: If there is none of this id; names those that are near.
            BankError: If its `problem.toml` is broken; names file, key and remedy.
        """
        self.require(problem_id)
        from mha_judge.bank.problem import read_problem

        return read_problem(self.root / "problems" / problem_id / "problem.toml", problem_id)

    def require(self, problem_id: str) -> None:
        """Check that there is a problem of this id.

        Raises:
            UsageError: If there is none; names those that are near.
        """
        if problem_id not in self.ids:
            raise none_such("problem", problem_id, self.ids)

    def problems(self) -> list[Problem]:
        return [self.problem(problem_id) for problem_id in self.ids]

    def languages(self, problem_id: str) -> list[str]:
        """Return those in which a problem is told: a bank of one's own may do with English."""
        folder = self.root / "problems" / problem_id
        return ["en", *(one for one in LANGUAGES if (folder / f"statement.{one}.md").is_file())]

    def statement(self, problem_id: str, language: str) -> str:
        """Return what a problem asks, as Markdown; in English if it has no other language."""
        return self._text(self._page(problem_id, "statement", language))

    def _page(self, problem_id: str, name: str, language: str) -> Path:
        own = language != "en" and language in self.languages(problem_id)
        folder = self.root / "problems" / problem_id
        return folder / (f"{name}.{language}.md" if own else f"{name}.md")

    def task(self, problem_id: str, language: str) -> str:
        """Return a statement as far as its fine print, without comments."""
        return self._parts(problem_id, language)[0]

    def fine_print(self, problem_id: str, language: str) -> str:
        """Return what a statement says below its task, without comments; empty if nothing."""
        return self._parts(problem_id, language)[1]

    def _parts(self, problem_id: str, language: str) -> tuple[str, str]:
        text = _COMMENT.sub("", self.statement(problem_id, language))
        found = _FINE_PRINT.search(text)
        return (text[: found.start()], text[found.start() :]) if found else (text, "")

    def follow_ups(self, problem_id: str, language: str) -> str:
        """Return what an interviewer may ask afterwards, with what a good answer contains.

        Raises:
            UsageError: If the problem has none in this language.
        """
        path = self._page(problem_id, "interviewer", language)
        if not path.is_file():
            raise UsageError(f"{problem_id} has no follow-up questions; write them in {path}")
        return self._text(path)

    def starter(self, problem_id: str) -> str:
        return self._text(self.root / "problems" / problem_id / "starter.py")

    def grader(self, problem_id: str) -> Path:
        return self._file(self.root / "graders" / f"test_{module_name(problem_id)}.py")

    def reference(self, problem_id: str) -> Path:
        return self._file(self.root / "reference" / f"{module_name(problem_id)}.py")

    def questions(self, problem_id: str) -> dict[str, Question]:
        """Return the questions of a problem, with choices and explanations; most have none.

        Raises:
            BankError: If the file is broken.
        """
        from mha_judge.bank.questions import read_questions

        return read_questions(self.root / "problems" / problem_id / "questions.toml")

    def titles(self, language: str) -> dict[str, str]:
        """Return the titles of checks in a language, by their English; none of English itself.

        Those of the claims about every problem are the built-in bank's.

        Raises:
            BankError: If the file of titles is broken.
        """
        from mha_judge.bank.tables import read_table

        builtin, own = (
            read_table(bank.root / "problems" / f"titles.{language}.toml")
            for bank in (Bank.builtin(), self)
        )
        return builtin | own

    def vocabulary(self) -> Vocabulary:
        """Return what candidates call things: the built-in bank's words, and this bank's own.

        Raises:
            BankError: If a file of words is broken, or the built-in one is missing.
        """
        from mha_judge.bank.vocabulary import read_vocabulary

        builtin, own = (bank.root / "problems" / VOCABULARY for bank in (Bank.builtin(), self))
        words = read_vocabulary(self._file(builtin))
        further = read_vocabulary(own) if own != builtin and own.is_file() else words
        return words if further == words else words.with_words_of(further)

    def mistakes(self, problem_id: str) -> list[Mistake]:
        """Return the known mistakes of a problem.

        Raises:
            BankError: If one of them does not say what it must.
        """
        from mha_judge.bank.mistake import read_mistakes

        path = self.root / "reference" / "mistakes" / f"{problem_id}.toml"
        reference = self._text(self.reference(problem_id))
        return read_mistakes(path, reference, self.questions(problem_id))

    def state_of_mistakes(self, problem_id: str) -> tuple[FileVersion, ...]:
        """Return what changes with the files that the mistakes of a problem are made of."""
        folder = self.root / "reference" / "mistakes"
        questions = self.root / "problems" / problem_id / "questions.toml"
        listed = (folder / f"{problem_id}.toml", folder / "shared.toml")
        return tuple(map(version_of, (self.reference(problem_id), questions, *listed)))

    def _file(self, path: Path) -> Path:
        if not path.is_file():
            raise BankError(f"{path} is missing; add the file, its problem cannot do without it")
        return path

    def _text(self, path: Path) -> str:
        return self._file(path).read_text(encoding="utf-8")


def none_such(what: str, name: str, ids: Sequence[str]) -> UsageError:
    """Return the error that there is no problem or check of an id; it names those that are near."""
    near = difflib.get_close_matches(name, ids, n=3, cutoff=0.6)
    known = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(ids)}"
    return UsageError(f"no {what} {name!r}; {known}")


def module_name(problem_id: str) -> str:
    """Return the name of a problem's Python files: `masked-mha` is `masked_mha`."""
    return problem_id.replace("-", "_")


def _roots() -> Iterator[Path]:
    """Yield where the built-in bank may be; what the installer says is read only at last."""
    yield Path(__file__).resolve().parents[3]  # a checkout
    yield Path(sysconfig.get_path("data")) / "share" / "mha-judge"
    from importlib.metadata import PackageNotFoundError, files

    try:
        recorded = files("mha-judge") or []
    except PackageNotFoundError:
        return
    roots = {
        Path(str(file.locate())).resolve().parents[2]
        for file in recorded
        if re.search(r"share/mha-judge/problems/[^/]+/problem\.toml$", str(file))
    }
    yield from sorted(roots)
