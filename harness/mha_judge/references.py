"""Importing the references of a bank: `reference` is the bank's own package."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

from mha_judge.bank import Bank, module_name
from mha_judge.errors import BankError


def load_reference(bank: Bank, problem_id: str) -> ModuleType:
    """Import the reference of a problem from its own bank, whatever was imported before.

    Raises:
        BankError: If it is missing or does not load.
    """
    path = bank.reference(problem_id)
    name = f"reference.{module_name(problem_id)}"
    loaded = sys.modules.get(name)
    if loaded is not None and Path(str(loaded.__file__)) == path:
        return loaded
    for other in [n for n in sys.modules if n.split(".")[0] == "reference"]:
        if not str(getattr(sys.modules[other], "__file__", None)).startswith(f"{bank.root}/"):
            del sys.modules[other]  # another bank's
    root = str(bank.root)
    sys.path[:] = [root, *(entry for entry in sys.path if entry != root)]
    try:
        return importlib.import_module(name)
    except Exception as error:  # a reference may raise anything while it is imported
        raise BankError(f"{path}: the reference does not load: {error!r}") from error
