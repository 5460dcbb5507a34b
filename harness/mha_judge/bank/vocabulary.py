"""What candidates call what contracts speak of: the words of a bank, from its `vocabulary.toml`."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mha_judge.bank.tables import read_table
from mha_judge.errors import BankError
from mha_judge.file_versions import FileVersion, version_of

_Words = Annotated[str, Field(pattern=r"^[\sA-Za-z0-9_]*$")]
_Table = dict[str, _Words]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Group(_Model):
    """What says on a parameter's path to which group of roles it belongs."""

    words: _Words = ""
    """Beginnings of words."""
    numbered: _Words = ""
    """Words that end in what counts; a `_` may stand before a digit."""


class Vocabulary(_Model):
    """Words, separated by spaces; case and underscores do not count in those of arguments."""

    arguments: _Table = {}
    """By name of a contract's argument, what else it may be called."""
    extras: _Table = {}
    """Parameters that lie outside a contract, by what is passed for them."""
    roles: _Table = {}
    """By role, in the order in which they count."""
    roles_alone: _Table = {}
    """Names of a role where nothing else on the path is one."""
    roles_at_the_end: _Table = {}
    """Names of a role as the last part of a path only."""
    around_roles: _Table = {}
    """What may stand around a role's name, and says nothing."""
    groups: dict[str, Group] = {}

    def means(self, name: str, argument: str) -> bool:
        """Return whether a parameter's name says that it is an argument of the contract."""
        known = self._meanings  # the same few names are looked up at every call
        if (name, argument) not in known:
            known[name, argument] = self._means(name, argument)
        return known[name, argument]

    def _means(self, name: str, argument: str) -> bool:
        if len(argument) == 1 and argument not in self.arguments:
            return name == argument  # n and N are different letters
        plain = _plain(name)
        return plain == _plain(argument) or plain in self._argument_words.get(argument, ())

    def extra(self, name: str) -> str | None:
        """Return what is passed for a parameter outside the contract, as its name says."""
        return self._extra_words.get(_plain(name))

    def role_in(self, path: Sequence[str]) -> str | None:
        """Return the role that one of the words of a path names, in small letters only."""
        for role, words in self.roles_at_the_end.items():
            if path and path[-1] in words.split():
                return role
        for role, pattern in self._role_patterns.items():
            alone = self.roles_alone.get(role, "").split()
            if any(pattern.match(word) or word in alone for word in path):
                return role
        return None

    def group_pattern(self, group: str) -> re.Pattern[str] | None:
        """Return what matches a path that speaks of a group of roles."""
        return self._group_patterns.get(group)

    def with_words_of(self, other: Vocabulary) -> Vocabulary:
        """Return these words and the other's; a group of both is the other's."""
        tables = [name for name in type(self).model_fields if name != "groups"]
        joined = {name: _joined(getattr(self, name), getattr(other, name)) for name in tables}
        return Vocabulary(**joined, groups={**self.groups, **other.groups})

    @functools.cached_property
    def _meanings(self) -> dict[tuple[str, str], bool]:
        return {}

    @functools.cached_property
    def _argument_words(self) -> Mapping[str, frozenset[str]]:
        named = self.arguments.items()
        return {name: frozenset(map(_plain, words.split())) for name, words in named}

    @functools.cached_property
    def _extra_words(self) -> Mapping[str, str]:
        heads = dict.fromkeys(("numheads", *self._argument_words.get("num_heads", ())), "heads")
        named = [(extra, words.split()) for extra, words in self.extras.items()]
        own = {_plain(word): extra for extra, words in reversed(named) for word in words}
        return heads | own

    @functools.cached_property
    def _role_patterns(self) -> Mapping[str, re.Pattern[str]]:
        around = "|".join(word for words in self.around_roles.values() for word in words.split())
        return {
            role: re.compile(f"^(?:{around})*(?:{'|'.join(words.split())})(?:{around})*s?$")
            for role, words in self.roles.items()
        }

    @functools.cached_property
    def _group_patterns(self) -> Mapping[str, re.Pattern[str]]:
        return {name: _group_pattern(group) for name, group in self.groups.items()}


def read_vocabulary(path: Path) -> Vocabulary:
    """Return the words of a file.

    Raises:
        BankError: If the file is broken; names file, key and remedy.
    """
    return _read(path, version_of(path))


@functools.lru_cache(maxsize=8)
def _read(path: Path, version: FileVersion) -> Vocabulary:
    """Return the words of a file as it stands at a time."""
    try:
        return Vocabulary.model_validate(read_table(path))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise BankError(
            f"{path}: {key}: {first['msg']}; write words of letters, digits and _ in quotes"
        ) from error


@functools.lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _joined(one: Mapping[str, str], other: Mapping[str, str]) -> dict[str, str]:
    names = dict.fromkeys([*one, *other])
    words = {name: [*one.get(name, "").split(), *other.get(name, "").split()] for name in names}
    return {name: " ".join(dict.fromkeys(own)) for name, own in words.items()}


def _group_pattern(group: Group) -> re.Pattern[str]:
    begins = "|".join(group.words.split())
    numbered = [_numbered(word) for word in group.numbered.split()]
    parts = [*([rf"(?<![a-z])(?<!un_)(?:{begins})"] if begins else []), *numbered]
    return re.compile("|".join(parts) or r"(?!)")


def _numbered(word: str) -> str:
    """Return what matches `attn_1` beside `attn1`, not `attn12`; and `proj_e`, not `proj_en`."""
    stem, last = word[:-1], word[-1]
    return f"{stem}_?{last}(?![0-9])" if last.isdigit() else f"{word}(?![a-z])"
