"""The option for the language that a command speaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from mha_judge.bank import LANGUAGES


def language_option(of: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option for the language of what `of` says."""
    return click.option(
        "--lang",
        type=click.Choice(LANGUAGES),
        default=LANGUAGES[0],
        show_default=True,
        envvar="MHA_JUDGE_LANG",
        show_envvar=True,
        help=f"Language of {of}.",
    )
