"""A new problem, begun as a copy of another one, and what of it is still to be filled in.

The other one is a problem of a bank, or a skeleton: `skeletons/` is a bank of those. Every place
that wants an author's words or code holds the mark; `verify` lists those that are left.
"""

from __future__ import annotations

import ast
import json
import keyword
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from string import Template

from mha_judge.bank import Bank, module_name
from mha_judge.bank.mistake import SHARED
from mha_judge.bank.problem import IDENTIFIER, Problem
from mha_judge.bank.tables import read_table
from mha_judge.errors import UsageError

MARK = "FILL IN"
MAX_ID = 60
KINDS = ("function", "module", "object", "answers")
"""Of entries; there is a skeleton for each."""

_RESERVED = "shared"  # shared.toml holds the mistakes that several problems share
_FILES = (
    "problems/$id/problem.toml",
    "problems/$id/questions.toml",
    "problems/$id/*.md",
    "problems/$id/starter.py",
    "reference/$module.py",
    "graders/test_$module.py",
    "reference/mistakes/$id.toml",
    "reference/mistakes/$id/*.py",
    "reference/hints/$id.toml",
    "reference/mutants/$module.toml",
    "reference/agreement/$module.py",
)
"""Of a problem, in the order in which they are best filled in."""
_SUBMISSIONS = "tests/submissions/$id/*.py"
"""Also, in a checkout of the built-in bank."""
_NEEDED = (
    "problems/$id/statement.md",
    "problems/$id/statement.zh.md",
    "problems/$id/interviewer.md",
    "problems/$id/interviewer.zh.md",
    "problems/$id/starter.py",
    "reference/$module.py",
    "graders/test_$module.py",
    "reference/mistakes/$id.toml",
)
"""What no problem can do without."""
_OTHER_TITLES = (
    re.compile(rf"^((title|summary|title_zh)\s*=\s*(?:\"\"\"|'''|\"|'))(?!{MARK})", re.MULTILINE),
    re.compile(rf"\A(# )()(?!{MARK})"),
)
"""Where a contract and a statement have the words of the problem that they were copied from."""


def skeleton(kind: str) -> tuple[Bank, str]:
    """Return the bank of skeletons, and the id of that of a kind."""
    return Bank.at(Bank.builtin().root / "skeletons"), f"some-{kind}"


def write_problem(bank: Bank, problem_id: str, source: Bank, like: str) -> list[Path]:
    """Write the files of a new problem, and return them; all of them, or none.

    What the other problem shares with its bank comes along, unless it is there already.

    Args:
        bank: Where to.
        problem_id: Of the new problem.
        source: Where the other problem lies; may be the same bank.
        like: Which problem is copied; titles and summary are marked, to be written anew.

    Raises:
        UsageError: If the id is none, or is taken, or a file is there or cannot be written.
        BankError: If the problem that is copied is broken.
    """
    _require_new(bank, problem_id)
    in_checkout = (bank.root / _SUBMISSIONS).parents[1].is_dir()
    moved = {
        path: bank.root / _filled(pattern, problem_id).replace("*", path.stem)
        for pattern in [*_FILES, *[_SUBMISSIONS] * in_checkout]
        for path in _matching(source, pattern, like)
    }
    old = {path: path.read_text("utf-8") for path in moved}
    code = {path: text for path, text in old.items() if path.suffix == ".py"}
    along = _imported(source, code)
    names = _new_names(source.problem(like), problem_id, [*code.values()], [*along.values()])
    texts = {
        target: _rewritten(path, old[path], like, problem_id, names)
        for path, target in moved.items()
    }
    there = [str(path) for path in texts if path.exists()]
    if there:
        raise UsageError(
            f"{', '.join(there)} is there already; remove it or choose another id; "
            "nothing was written"
        )
    for path, text in along.items():
        target = bank.root / path.relative_to(source.root)
        if not target.exists():
            texts[target] = text
    texts |= _shared_mistakes(bank, source, like)
    _write(texts)
    return [*texts]


def placeholders(bank: Bank, problem_id: str) -> list[str]:
    """Return what is still to be filled in, with file and line, a sentence each."""
    return [
        f"{path.relative_to(bank.root)}, line {line}: still to be filled in: {what}"
        for pattern in _FILES
        for path in _matching(bank, pattern, problem_id)
        for line, what in _marked(path)
    ]


def missing(bank: Bank, problem_id: str) -> list[str]:
    """Return which files that every problem has this one lacks, by their paths in the bank.

    A bank of one's own may do with one language.
    """
    own = bank.root != Bank.builtin().root
    needed = (path for path in _NEEDED if not (own and path.endswith(".zh.md")))
    names = [_filled(path, problem_id) for path in needed]
    return [name for name in names if not (bank.root / name).is_file()]


def _marked(path: Path) -> list[tuple[int, str]]:
    """Return the number of every line with the mark, and what is wanted there."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(number, _wanted(line)) for number, line in enumerate(lines, 1) if MARK in line]


def _wanted(line: str) -> str:
    return line.partition(MARK)[2].strip(" :\"'.()#") or line.strip()


def _require_new(bank: Bank, problem_id: str) -> None:
    name = problem_id[:80]
    if not re.fullmatch(IDENTIFIER, problem_id) or len(problem_id) > MAX_ID:
        raise UsageError(
            f"{name!r} is not a valid id; write lower-case letters, digits and single hyphens, "
            f"begin with a letter, and use at most {MAX_ID} characters, as in talking-heads"
        )
    names = (module_name(problem_id), _class_name(problem_id))
    if problem_id == _RESERVED or any(map(keyword.iskeyword, names)):
        raise UsageError(f"{name!r} is a reserved name and cannot be an id; choose another")
    if problem_id in bank.ids:
        raise UsageError(
            f"there is a problem {name!r} in {bank.root}; choose another id, or edit its files"
        )


def _matching(bank: Bank, pattern: str, problem_id: str) -> list[Path]:
    found = sorted(bank.root.glob(_filled(pattern, problem_id)))
    return [path for path in found if path.is_file()]


def _filled(pattern: str, problem_id: str) -> str:
    return Template(pattern).substitute(id=problem_id, module=module_name(problem_id))


def _class_name(problem_id: str) -> str:
    return "".join(word.capitalize() for word in problem_id.split("-"))


def _imported(bank: Bank, code: Mapping[Path, str]) -> dict[Path, str]:
    """Return the other modules of a bank that some of it imports, and what those import."""
    found: dict[Path, str] = {}
    left = [*code.values()]
    while left:
        for name in _imports(left.pop()):
            path = bank.root / f"{name.replace('.', '/')}.py"
            if path not in code and path not in found and path.is_file():
                found[path] = path.read_text("utf-8")
                left.append(found[path])
    return found


def _imports(source: str) -> Iterator[str]:
    """Yield the names of modules that a program may import from a bank."""
    with suppress(SyntaxError):  # a known mistake may be one
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.Import(names=names):
                    yield from (one.name for one in names)
                case ast.ImportFrom(module=str(module), names=names, level=0):
                    yield from (module, *(f"{module}.{one.name}" for one in names))


def _new_names(
    problem: Problem, problem_id: str, own: list[str], shared: list[str]
) -> dict[str, str]:
    """Return the entries that are named after the problem, with their names in the new one.

    A name stays if it is one word, which may be a word of the texts or another library's, if a
    shared module uses it, or if the new one means something in the code already.
    """
    words = "_?".join(problem.id.split("-"))
    within = re.compile(rf"(?:(?<![A-Za-z0-9])|(?=[A-Z]))(?i:{words})(?![a-z0-9])")
    names = {}
    for name in (entry.name for entry in problem.entry):
        found = within.search(name)
        if found is None or name.lower() == problem.id:
            continue
        as_class = found[0][0].isupper()
        fresh = _class_name(problem_id) if as_class else module_name(problem_id)
        new = name[: found.start()] + fresh + name[found.end() :]
        if not (any(_has(text, name) for text in shared) or any(_has(text, new) for text in own)):
            names[name] = new
    return names


def _has(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", text) is not None


def _rewritten(path: Path, text: str, like: str, problem_id: str, names: Mapping[str, str]) -> str:
    """Return a text of one problem under the names of another, its title marked."""
    old, new = module_name(like), module_name(problem_id)
    modules = {f"reference.{old}": f"reference.{new}"}
    every = {**names, **modules}
    named = re.compile(rf"\b({'|'.join(map(re.escape, every))})\b")
    text = named.sub(lambda found: every[found[0]], text)
    if path.suffix == ".py":
        text = re.sub(rf"^(#\s*problem:\s*){like}$", rf"\g<1>{problem_id}", text, flags=re.M)
        return _with_module(text, old, new)
    if path.name == "problem.toml":
        text = re.sub(rf"^(id\s*=\s*[\"']){like}\b", rf"\g<1>{problem_id}", text, flags=re.M)
        return _OTHER_TITLES[0].sub(rf"\1{MARK}: a \2 in place of ", text)
    if path.name.startswith("statement"):
        return _OTHER_TITLES[1].sub(rf"\1{MARK}: a title in place of ", text)
    return text


def _with_module(source: str, old: str, new: str) -> str:
    """Return a program in which `from reference import` has the new name of a module."""
    places: list[ast.alias | ast.Name] = []
    with suppress(SyntaxError):
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.ImportFrom(module="reference", names=names):
                    places += [one for one in names if one.name == old]
                case ast.Name(id=name) if name == old:
                    places.append(node)
    if not any(isinstance(one, ast.alias) for one in places):
        return source
    lines = source.encode().split(b"\n")
    for line, column in sorted({(one.lineno - 1, one.col_offset) for one in places}, reverse=True):
        rest = lines[line][column:].removeprefix(old.encode())
        lines[line] = lines[line][:column] + new.encode() + rest
    return b"\n".join(lines).decode()


def _shared_mistakes(bank: Bank, source: Bank, like: str) -> dict[Path, str]:
    """Return the files of what mistakes share, with what the new problem wants of it."""
    folders = {name: Path("reference") / name for name in ("mistakes", "hints")}
    mistakes = read_table(source.root / folders["mistakes"] / f"{like}.toml").get("mistake", [])
    wanted = {one["shared"]: None for one in mistakes if "shared" in one}
    texts = {}
    for folder in folders.values():
        target = bank.root / folder / SHARED
        theirs, ours = read_table(source.root / folder / SHARED), read_table(target)
        fresh = [_as_toml(one, theirs[one]) for one in wanted if one in theirs and one not in ours]
        if fresh:
            before = target.read_text("utf-8").rstrip() + "\n\n" if target.is_file() else ""
            texts[target] = before + "\n".join(fresh)
    return texts


def _as_toml(name: str, table: Mapping[str, object]) -> str:
    lines = (f"{key} = {_value(value)}\n" for key, value in table.items())
    return f"[{name}]\n{''.join(lines)}"


def _value(value: object) -> str:
    """Return a value as it stands in one line of TOML."""
    match value:
        case dict():
            return f"{{ {', '.join(f'{key} = {_value(one)}' for key, one in value.items())} }}"
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case _:
            return json.dumps(value, ensure_ascii=False)


def _write(texts: Mapping[Path, str]) -> None:
    """Write all of these files, or leave everything as it was."""
    before = {path: path.read_bytes() for path in texts if path.is_file()}
    made: list[Path] = []
    try:
        for path, text in texts.items():
            for folder in reversed([one for one in path.parents if not one.exists()]):
                folder.mkdir()
                made.append(folder)
            with path.open("w", encoding="utf-8") as file:
                if path not in before:
                    made.append(path)
                file.write(text)
    except BaseException as error:
        for path, content in before.items():
            path.write_bytes(content)
        for path in reversed(made):
            path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        raise UsageError(
            f"{error.filename} cannot be written: {error.strerror}; nothing was written; "
            "pass --bank DIR with another folder"
        ) from error
