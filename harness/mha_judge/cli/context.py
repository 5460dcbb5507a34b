"""What several commands share."""

from __future__ import annotations

import click

from mha_judge.bank import Bank
from mha_judge.errors import BankError, UsageError

INTERRUPTED = 130
"""The exit code that a shell gives a program which Ctrl-C ended."""


def folded(typed: str) -> str:
    """Return a problem's id, which people also type with capitals or underscores."""
    return typed.lower().replace("_", "-")


def bank_of(ctx: click.Context) -> Bank:
    """Return the bank that `--bank` names, else the built-in one.

    Raises:
        UsageError: If the folder that is named is not a bank.
    """
    if ctx.obj is None:
        return Bank.builtin()
    try:
        return Bank.at(ctx.obj)
    except BankError as error:  # no bank is broken: another folder was meant
        raise UsageError(f"--bank: {error}") from error
