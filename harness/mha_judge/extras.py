"""What is installed only where it is used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mha_judge.errors import UsageError


@contextmanager
def of_extra(name: str, *packages: str) -> Iterator[None]:
    """Import inside the block what an extra of this package brings.

    Args:
        name: The extra's.
        packages: What it brings.

    Raises:
        UsageError: One of them is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in packages:
            raise
        raise UsageError(
            f"{error.name} is not installed; run `pip install 'mha-judge[{name}]'`"
        ) from error
