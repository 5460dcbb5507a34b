"""What is installed only for those who use it: the extras of this package."""

from __future__ import annotations

import importlib.util

from mha_judge.errors import JudgeError, UsageError

EXTRAS = {
    "container": ("docker",),
    "dask": ("distributed",),
    "inspect": ("inspect_ai",),
    "practice": ("textual", "watchfiles"),
    "serve": ("fastapi", "prometheus_client", "uvicorn", "websockets"),
    "verifiers": ("verifiers",),
}
"""What each brings, by the name under which it is imported."""


def require_extra(extra: str, what: str, failure: type[JudgeError] = UsageError) -> None:
    """Check that an extra is installed; nothing is imported for that.

    Args:
        extra: A key of `EXTRAS`.
        what: What needs it, as a user calls it.
        failure: What is raised.

    Raises:
        JudgeError: A `failure` that names what is missing, and the command that installs it.
    """
    missing = [name for name in EXTRAS[extra] if not _is_installed(name)]
    if missing:
        raise failure(
            f"{what} needs {' and '.join(missing)}, which this Python does not have: "
            f"pip install 'mha-judge[{extra}]'"
        )


def _is_installed(name: str) -> bool:
    found = importlib.util.find_spec(name)
    return found is not None and found.origin is not None  # a mere folder of that name has none
