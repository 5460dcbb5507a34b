"""Whether a reference agrees with implementations from elsewhere.

A bank may hold `reference/agreement/<id>.py` with a function `cases()` that yields a name, the
reference's value and the other's, both float64.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import torch

from mha_judge.bank import Bank, module_name
from mha_judge.bank.references import load_reference

ALLOWED = 1e-10


def compare_all(bank: Bank, problem_id: str) -> tuple[list[str], list[str]]:
    """Return the names of what was compared, and what does not agree, a sentence each."""
    path = bank.root / "reference" / "agreement" / f"{module_name(problem_id)}.py"
    if not path.is_file():
        return [], []
    names, faults = [], []
    load_reference(bank, problem_id)  # the comparison imports it too, and must get this bank's
    try:
        for name, own, other in _cases(path):
            names.append(name)
            error = float((own - other).abs().max()) if own.shape == other.shape else float("inf")
            if not error <= ALLOWED or own.dtype is not torch.float64:
                faults.append(
                    f"differs from {name} by {error:.1e} in {own.dtype}; "
                    f"up to {ALLOWED:.0e} in float64 is allowed"
                )
    except Exception as error:  # the bank's own code may raise anything
        faults.append(f"{path}: the comparison does not run: {error!r}; correct it")
    return names, faults


def _cases(path: Path) -> list[tuple[str, torch.Tensor, torch.Tensor]]:
    spec = importlib.util.spec_from_file_location(f"agreement_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    torch.manual_seed(0)
    with torch.no_grad():
        return list(module.cases())
