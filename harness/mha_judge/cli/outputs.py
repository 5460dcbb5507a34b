"""Where a command writes what machines read."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from mha_judge.errors import UsageError


def check_outputs(paths: Mapping[str, str | None]) -> None:
    """Refuse what could not be written, before anything is graded.

    Args:
        paths: By the option's name; None where the option was not given, `-` is standard output.

    Raises:
        UsageError: If two options name one place, or a place cannot be written.
    """
    wanted = {option: path for option, path in paths.items() if path is not None}
    for path in wanted.values():
        options = [option for option, other in wanted.items() if other == path]
        if len(options) > 1:
            raise UsageError(f"{' and '.join(options)} name the same place; give each its own file")
        folder = Path(path).parent
        if path != "-" and (
            Path(path).is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK)
        ):
            raise UsageError(
                f"{path} cannot be written; name a file in a folder that exists and is writable"
            )


def write_outputs(texts: Mapping[str, Callable[[], str]], paths: Mapping[str, str | None]) -> None:
    """Write each text whose option was given.

    Raises:
        UsageError: If a file cannot be written after all.
    """
    for option, path in paths.items():
        if path is None:
            continue
        text = texts[option]()
        if path == "-":
            sys.stdout.write(text)
            continue
        try:
            Path(path).write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(
                f"{path} cannot be written: {error.strerror}; name another file"
            ) from error
