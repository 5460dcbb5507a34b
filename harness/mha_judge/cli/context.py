"""What several commands share."""

from __future__ import annotations

import click

from mha_judge.bank import Bank

INTERRUPTED = 130
"""The exit code that a shell gives a program which Ctrl-C ended."""


def folded(typed: str) -> str:
    """Return a problem's id, which people also type with capitals or underscores."""
    return typed.lower().replace("_", "-")


def bank_of(ctx: click.Context) -> Bank:
    """Return the bank that `--bank` names, else the built-in one."""
    return Bank.at(ctx.obj) if ctx.obj is not None else Bank.builtin()
