"""Importing what is a bank's own: `reference`, and `graders.shared`, which its graders import."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

from mha_judge.bank import Bank, module_name
from mha_judge.errors import BankError
from mha_judge.file_versions import FileVersion, version_of

_imported: dict[str, tuple[str, FileVersion]] = {}
"""By name of a module, its file as it was when it was imported."""
_changes = 0


def load_reference(bank: Bank, problem_id: str) -> ModuleType:
    """Import the reference of a problem from its own bank, as its files are now.

    Raises:
        BankError: If it is missing or does not load.
    """
    path = bank.reference(problem_id)
    name = f"reference.{module_name(problem_id)}"
    _forget_others(bank)
    loaded = sys.modules.get(name)
    if loaded is not None and Path(str(loaded.__file__)) == path:
        return loaded
    root = str(bank.root)
    sys.path[:] = [root, *(entry for entry in sys.path if entry != root)]
    try:
        module = importlib.import_module(name)
    except Exception as error:  # a reference may raise anything while it is imported
        raised = f"{type(error).__name__}: {error}"
        raise BankError(f"{path}: the reference does not load: {raised}") from error
    note_imports()
    return module


def note_imports() -> None:
    """Note the files of what was imported just now, as they are."""
    for name, file in _files().items():
        _imported.setdefault(name, (file, version_of(Path(file))))


def changes() -> int:
    """Return how often modules were forgotten: who has imported them before has old ones."""
    return _changes


def _forget_others(bank: Bank) -> None:
    """Forget what was imported from another bank; and all of it if a file of it has changed."""
    global _changes
    files = _files()
    own = {name for name, file in files.items() if file.startswith(f"{bank.root}/")}
    known = [_imported[name] for name in own if name in _imported]
    if any(version_of(Path(file)) != version for file, version in known):
        own = set()
        importlib.invalidate_caches()
    if len(own) == len(files):
        return
    _changes += 1
    folders = _own_modules() - files.keys()  # which have their modules as attributes
    for name in (files.keys() - own) | folders:
        del sys.modules[name]
        _imported.pop(name, None)


def _files() -> dict[str, str]:
    """Return the files of a bank's modules that are imported, by name."""
    files = {name: getattr(sys.modules[name], "__file__", None) for name in _own_modules()}
    return {name: str(file) for name, file in files.items() if file is not None}


def _own_modules() -> set[str]:
    """Return the names of a bank's modules and folders that are imported."""
    return {name for name in sys.modules if name.partition(".")[0] in ("reference", "graders")}
