"""What depends on what in the package, so that it stays readable from the bottom up."""

import ast
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from packaging.requirements import Requirement

from mha_judge.extras import EXTRAS

PACKAGE = Path(__file__).parents[1] / "harness" / "mha_judge"
ORDER = ("formulas", "expecting", "binding", "calling", "checks")
"""The folders of `grading`; each uses only itself and those before it."""


def modules():
    """Return every module's file by its dotted name."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


def imported_by(path, known):
    """Return the modules that one imports anywhere: at the top, in a function, for its types."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= (inner & known) | ({node.module} if inner - known else set())
    return names & known


def graph():
    found = modules()
    return {name: imported_by(path, found.keys()) - {name} for name, path in found.items()}


def test_no_module_imports_itself_by_way_of_others():
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def test_each_folder_of_grading_uses_only_those_below_it():
    prefix = "mha_judge.grading."
    folder = {
        name: name.removeprefix(prefix).split(".")[0]
        for name in modules()
        if name.startswith(prefix)
    }
    wrong = [
        f"{user} uses {used}"
        for user, uses in graph().items()
        for used in uses
        if folder.get(user) in ORDER
        and folder.get(used) in ORDER
        and ORDER.index(folder[user]) < ORDER.index(folder[used])
    ]

    assert wrong == []


def test_extras_are_declared_as_the_package_asks_for_them():
    project = PACKAGE.parents[1] / "pyproject.toml"
    declared = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    extras = {
        extra: [Requirement(line) for line in lines]
        for extra, lines in declared["optional-dependencies"].items()
    }

    brought = {extra: tuple(sorted(one.name for one in extras[extra])) for extra in EXTRAS}
    [own] = [one for one in extras["dev"] if one.name == declared["name"]]

    assert brought == EXTRAS  # each of these is imported by the name under which it is installed
    assert own.extras == set(extras) - {"dev"}
