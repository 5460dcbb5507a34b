"""Changes to a reference that make no difference, with the reason why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mha_judge.bank import Bank, module_name
from mha_judge.bank.tables import read_table
from mha_judge.errors import BankError


class Equivalent(BaseModel):
    """One change that no check can notice, or need notice."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    change: str
    """The statement before and after, as `verify` prints it."""
    reason: Annotated[str, Field(min_length=10)]


class _Listed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    equivalent: list[Equivalent] = []


def read_equivalents(bank: Bank, problem_id: str) -> dict[str, str]:
    """Return the reasons by change; none if the bank has no such file for the problem.

    Raises:
        BankError: If the file is broken.
    """
    path = _path(bank, problem_id)
    try:
        listed = _Listed.model_validate(read_table(path))
    except ValidationError as error:
        raise BankError(f"{path}: {error}; correct the file") from error
    return {equivalent.change: equivalent.reason for equivalent in listed.equivalent}


def _path(bank: Bank, problem_id: str) -> Path:
    return bank.root / "reference" / "mutants" / f"{module_name(problem_id)}.toml"
