"""Writes the pages of `docs/reference/`, from Click and pydantic: `make texts`."""

from __future__ import annotations

import functools
import inspect
import re
import types
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import click
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from mha_judge import grading
from mha_judge.bank.problem import Problem
from mha_judge.cli import main
from mha_judge.cli.context import INTERRUPTED
from mha_judge.cli.sandbox_options import sandbox_options
from mha_judge.errors import JudgeError
from mha_judge.report.models import Report

FOLDER = Path(__file__).parent / "reference"
_MADE = "This page is made from the code by `make texts`."
_OF_ANY_SEED = re.compile(r" *\[0<=x<=\d{16}\]")
_INDENT = 4
"""Of an entry in a section of a docstring."""
_SEVERAL = 3
"""Commands that must share an option before it is told of in one place."""
_PLAIN = {
    bool: "yes or no", int: "whole number", float: "number", str: "text", Any: "anything",
    type(None): "nothing",
}  # fmt: skip


class _Option(NamedTuple):
    """How an option is written, and what it does."""

    names: str
    text: str


def pages() -> dict[str, str]:
    """Return the pages by their file names."""
    one = list(_leaves(main))
    many = [name for name, _ in one].index(_FIRST_OF_MANY)
    return {
        "commands.md": "\n".join([_COMMANDS, *_common(), *_sections(one[:many])]),
        "commands-many.md": "\n".join([_COMMANDS_MANY.rstrip(), *_sections(one[many:])]),
        "report.md": "\n".join(_models("The JSON report", _REPORT, Report)),
        "grading.md": "\n".join(_functions()),
        "contract.md": "\n".join(_models("The contract in `problem.toml`", _CONTRACT, Problem)),
    }


_COMMANDS = f"""\
# Commands

The commands for one answer and for practising, as `mha-judge COMMAND --help` tells of them; those
for many answers are on [a page of their own](commands-many.md).

{_MADE}
"""
_FIRST_OF_MANY = "score"
_COMMANDS_MANY = f"""\
# Commands for many answers, and for a bank

The commands that grade many answers, keep the bank and check sandboxes; those for one answer are on
[the first page](commands.md), with the options that several commands share.

{_MADE}
"""
_REPORT = f"""\
What `mha-judge run FILE --json PATH` writes, key by key: the file holds everything, whatever
`--reveal` says. [What a grade means](../grading.md) explains scores and verdicts.

{_MADE}
"""
_CONTRACT = f"""\
Every key of a `problem.toml`. A key that is not here is refused, so that a typo never becomes a
default. [A new problem](../authoring/problem.md) says how to choose them.

{_MADE}
"""
_GRADING = f"""\
# What graders are written with

All that `mha_judge.grading` offers to a grader, with signatures. [A grader's
checks](../authoring/checks.md) shows how they are used.

{_MADE}
"""
_VERDICTS = """\
## Exit codes

| code | meaning |
|---|---|
| 0 | accepted: every check that counts passed |
| 1 | not accepted |
"""


def _common() -> Iterator[str]:
    """Yield exit codes, and the options that several commands have."""
    yield _VERDICTS.rstrip()
    yield from (f"| {code} | {text} |" for code, text in sorted(_exit_codes().items()))
    yield "\n## Options of several commands\n"
    yield from map(_item, _shared())
    yield "\n## Options of a sandbox\n"
    yield from map(_item, _confining())


def _sections(commands: Sequence[tuple[str, click.Command]]) -> Iterator[str]:
    """Yield a section for each command."""
    shared, confining = _shared(), _confining()
    for name, command in commands:
        arguments = [one for one in command.params if isinstance(one, click.Argument)]
        ctx = click.Context(command)
        yield f"\n## `{' '.join([name, *(one.make_metavar(ctx) for one in arguments)])}`\n"
        yield _prose(command.help)
        own = _options(command)
        confined = [one for one in own if one in confining]
        alone = [one for one in own if one not in shared and one not in confined]
        yield from ["", *map(_item, alone)] if alone else ()
        also = [f"`{one.names.split()[0].rstrip(',')}`" for one in own if one in shared]
        also += ["[those of a sandbox](commands.md#options-of-a-sandbox)"] if confined else []
        if also:
            yield f"\n{'Also' if alone else 'Options:'} {', '.join(also)}."
    yield ""


@functools.cache
def _shared() -> list[_Option]:
    counted = Counter(option for _, command in _leaves(main) for option in _options(command))
    shared = [one for one, count in counted.items() if count >= _SEVERAL]
    return [one for one in shared if one not in _confining()]


@functools.cache
def _confining() -> list[_Option]:
    return _options(click.command()(sandbox_options()(lambda: None)))


def _item(option: _Option) -> str:
    return f"- `{option.names}`: {option.text}"


def _leaves(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield what can be run of a group, and of the groups in it."""
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        if command is not None and getattr(command, "invoke_without_command", True):
            yield f"{before}{name}", command
        if isinstance(command, click.Group):
            yield from _leaves(command, f"{before}{name} ")


def _exit_codes() -> dict[int, str]:
    """Return what each exit code says where there is no verdict."""
    kinds = [JudgeError]
    for kind in kinds:  # which grow as it goes
        kinds += kind.__subclasses__()
    said = {kind.exit_code: _prose(kind.__doc__) for kind in kinds if "exit_code" in vars(kind)}
    return {**said, INTERRUPTED: "Interrupted."}


def _options(command: click.Command) -> list[_Option]:
    ctx = click.Context(command)
    options = [one for one in command.params if isinstance(one, click.Option)]
    records = [one.get_help_record(ctx) for one in options]
    return [
        _Option(names.replace("INTEGER RANGE", "N"), " ".join(_OF_ANY_SEED.sub("", text).split()))
        for names, text in filter(None, records)
    ]


def _models(title: str, head: str, root: type[BaseModel]) -> Iterator[str]:
    yield f"# {title}\n"
    yield head.rstrip()
    seen, left = {root}, [root]
    while left:
        model = left.pop(0)
        yield f"\n## {_spaced(model.__name__)}\n"
        yield f"{_prose(model.__doc__)}\n"
        rows = []
        for name, field in model.model_fields.items():
            inner = [one for one in _inside(field.annotation) if one not in seen]
            seen.update(inner)
            left.extend(inner)
            default = "required" if field.is_required() else _default(field.get_default())
            kind = _kind(field.annotation)
            rows.append(" | ".join(map(_cell, (f"`{name}`", kind, default, field.description))))
        yield from _table(rows, "key", "holds", "default")
    yield ""


def _functions() -> Iterator[str]:
    yield _GRADING.rstrip()
    for name in grading.__all__:
        one = getattr(grading, name)
        yield f"\n## `{name}`\n"
        if inspect.isclass(one):
            yield _told(one.__doc__)
            for inner, member in inspect.getmembers(one, inspect.isfunction):
                if not inner.startswith("_") and inner in vars(one):
                    yield f"\n{_signature(inner, member)}\n\n{_told(member.__doc__)}"
        else:
            yield f"{_signature(name, one)}\n\n{_told(one.__doc__)}"
    yield ""


def _signature(name: str, function: Callable[..., Any]) -> str:
    """Return how a function is called, as code: its parameters with their defaults."""
    parameters = inspect.signature(function).parameters.values()
    plain = [one.replace(annotation=one.empty) for one in parameters if one.name != "self"]
    call = str(inspect.Signature(plain)).replace("'", '"')
    return f"```python\n{name}{call}\n```"


def _told(text: str | None) -> str:
    """Return a docstring, each entry of its sections an item."""
    lines: list[str] = []
    for line in inspect.cleandoc(text or "").splitlines():
        indent, words = len(line) - len(line.lstrip()), line.strip()
        if line.endswith(":") and not indent and " " not in line:
            lines.append(f"{words}\n")
        elif indent == _INDENT:
            lines.append(f"- `{words.replace(': ', '`: ', 1)}")
        else:
            lines.append(f"  {words}" if indent else words)
    return "\n".join(lines)


def _default(value: object) -> str:
    if value is PydanticUndefined or value is None or isinstance(value, BaseModel):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "empty" if value in ("", [], {}) else f"`{getattr(value, 'value', value)}`"


def _inside(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models that a type holds."""
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        yield annotation
    for one in get_args(annotation):
        yield from _inside(one)


def _kind(annotation: Any) -> str:
    """Return a type in words."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kind(args[0])
    if origin is Literal:
        return " or ".join(f"`{one}`" for one in args)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(_kind, args)))
    if origin is list:
        return f"list of {_kind(args[0])}"
    if origin is tuple:
        return f"({', '.join(map(_kind, args))})"
    if origin in (dict, Mapping):
        return f"by {_kind(args[0])}: {_kind(args[1])}"
    if inspect.isclass(annotation) and issubclass(annotation, Enum):
        return " or ".join(f"`{one.value}`" for one in annotation)
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        words = _spaced(annotation.__name__)
        return f"[{words.lower()}](#{words.lower().replace(' ', '-')})"
    return _PLAIN.get(annotation) or str(annotation)


def _spaced(name: str) -> str:
    """Return the name of a class as words: `CheckResult` is `Check result`."""
    return re.sub(r"(?<=[a-z])([A-Z])", lambda found: f" {found[1].lower()}", name)


def _table(rows: list[str], *columns: str) -> Iterator[str]:
    yield f"| {' | '.join(columns)} | |"
    yield f"|{'---|' * (len(columns) + 1)}"
    yield from (f"| {row} |".replace("|  |", "| |") for row in rows)


def _prose(text: str | None) -> str:
    """Return a docstring as paragraphs of one line each; those that Click leaves alone as code."""
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(
        f"```text\n{one.strip(chr(8)).strip(chr(10))}\n```"
        if one.startswith("\b")
        else " ".join(one.split())
        for one in paragraphs
    )


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


if __name__ == "__main__":
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
