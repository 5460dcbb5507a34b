"""From a name on the command line to a backend that works here."""

from collections.abc import Callable

from mha_judge.errors import SandboxUnavailable, UsageError
from mha_judge.sandbox.base import Sandbox
from mha_judge.sandbox.jail import Jail
from mha_judge.sandbox.unconfined import Unconfined

BACKENDS: dict[str, Callable[[], Sandbox]] = {"jail": Jail}


def choose(name: str, unsafe: bool = False) -> Sandbox:
    """Return the backend `name`; `auto` is the strongest that works here.

    Raises:
        UsageError: `none` without `unsafe`.
        SandboxUnavailable: The backend cannot confine here.
    """
    if name == "none":
        if not unsafe:
            raise UsageError("--sandbox none runs the file unconfined; add --unsafe to say so")
        return Unconfined()
    names = list(BACKENDS) if name == "auto" else [name]
    reasons = []
    for candidate in names:
        sandbox = BACKENDS[candidate]()
        reason = sandbox.unavailable()
        if reason is None:
            return sandbox
        reasons.append(f"{candidate}: {reason}")
    raise SandboxUnavailable("; ".join(reasons))
