"""The folder of an export: written whole, or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from mha_judge.errors import UsageError
from mha_judge.export.platform import File


def write_folder(folder: Path, files: Iterable[File]) -> None:
    """Write files into a folder that is not there yet, or is empty.

    Raises:
        UsageError: If there is something in it, or it cannot be written.
    """
    try:
        if folder.is_dir() and any(folder.iterdir()):
            raise UsageError(f"{folder} is not empty; name a new folder, or empty it")
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            for file in files:
                path = beside / file.path
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(file.data)
                path.chmod(0o755 if file.executable else 0o644)
            beside.chmod(0o755)
            beside.rename(folder)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written: {error.strerror}; name another folder"
        ) from error
