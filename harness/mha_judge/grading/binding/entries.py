"""Finding the entry points of a contract among what a file defines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mha_judge.bank.problem import Entry
from mha_judge.grading.binding.described import Definition
from mha_judge.grading.failures import CheckFailure


@dataclass(frozen=True)
class Found:
    """An entry point: the name that it has in the file, and what it is."""

    name: str
    definition: Definition


class EntryMissing(CheckFailure):
    """The file has nothing that the contract asks for."""


def find_entry(entry: Entry, definitions: Mapping[str, Definition]) -> Found:
    """Return what serves as `entry`: by its name, an alias, or either in another spelling.

    Something imported is not an entry: it must be defined in the file itself.

    Raises:
        EntryMissing: If there is nothing; names what was looked for and what was found.
    """
    names = [entry.name, *entry.aliases, *entry.classes]
    wrong: list[str] = []
    for name in [*names, *_respelled(names, definitions)]:
        definition = definitions.get(name)
        if definition is None:
            continue
        complaint = _unfit(entry, name, definition)
        if complaint is None:
            return Found(name, definition)
        wrong.append(complaint)
    if wrong:
        raise EntryMissing(wrong[0])
    raise EntryMissing(f"{_wanted(entry)} is missing; the file defines {_listing(definitions)}")


def _respelled(names: list[str], definitions: Mapping[str, Definition]) -> list[str]:
    plain = {_plain(name) for name in names}
    return [name for name in definitions if name not in names and _plain(name) in plain]


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _unfit(entry: Entry, name: str, definition: Definition) -> str | None:
    """Return why a definition of the right name cannot serve, or None if it can."""
    if not definition.own:
        return f"`{name}` is imported; define it in the file itself"
    if entry.kind == "answers":
        return (
            None
            if definition.kind == "value"
            else f"`{name}` is a {definition.kind}; a dict is wanted"
        )
    if definition.kind == "value":
        return f"`{name}` is not callable: it is a value of type {definition.type}"
    if entry.kind in ("module", "object") and definition.kind != "class":
        return f"`{name}` is a function; a class is wanted"
    if entry.kind == "object":
        missing = [one.name for one in entry.methods if one.name not in definition.methods]
        return f"`{name}` has no method `{missing[0]}`" if missing else None
    if definition.kind == "class" and definition.call is None:
        return f"`{name}` has neither `forward` nor `__call__`"
    return None


def _wanted(entry: Entry) -> str:
    what = {
        "function": "the function",
        "module": "the class",
        "object": "the class",
        "answers": "the dict",
    }[entry.kind]
    others = [*entry.aliases, *entry.classes]
    aliases = f" (or {', '.join(others[:4])})" if others else ""
    return f"{what} `{entry.name}`{aliases}"


def _listing(definitions: Mapping[str, Definition]) -> str:
    own = [f"`{name}`" for name, definition in definitions.items() if definition.own]
    return ", ".join(own[:12]) if own else "nothing of its own"
