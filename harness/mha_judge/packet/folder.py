"""The folder that packets are written into."""

from __future__ import annotations

from pathlib import Path

from mha_judge.errors import UsageError


def make_folder(folder: Path) -> None:
    """Make the folder of the packets, where it is not there.

    Raises:
        UsageError: If it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be made ({error.strerror}); name another folder"
        ) from error
