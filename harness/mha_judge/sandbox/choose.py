"""From a name on the command line to a supervisor that is starting."""

from collections.abc import Callable

from mha_judge.errors import SandboxUnavailable, UsageError
from mha_judge.sandbox.base import Channel, Sandbox
from mha_judge.sandbox.container import Container, Settings
from mha_judge.sandbox.jail import Jail
from mha_judge.sandbox.unconfined import Unconfined

BACKENDS: dict[str, Callable[[], Sandbox]] = {"container": Container, "jail": Jail}
"""The backends that confine, strongest first."""


def open_channel(name: str, unsafe: bool = False, container: Settings | None = None) -> Channel:
    """Start a supervisor in the backend `name`; `auto` is the strongest that works here.

    Args:
        name: A key of `BACKENDS`, `auto`, or `none`.
        unsafe: Allows `none`.
        container: What a container is asked for. It is never ignored: `auto` then means
            `container`.

    Raises:
        UsageError: `none` without `unsafe`; settings of a container for another backend.
        SandboxUnavailable: The backend cannot confine here.
    """
    check_choice(name, unsafe, container)
    if container is not None:
        return Container(container).open()
    if name == "none":
        return Unconfined().open()
    reasons = []
    for candidate in list(BACKENDS) if name == "auto" else [name]:
        try:
            return BACKENDS[candidate]().open()
        except SandboxUnavailable as error:
            reasons.append(f"{candidate}: {error}")
    raise SandboxUnavailable("; ".join(reasons))


def open_gpu_channel(name: str, unsafe: bool = False, container: Settings | None = None) -> Channel:
    """Start a supervisor whose workers can reach a GPU, in the backend `name`.

    Args:
        name: A key of `BACKENDS`, or `none`.
        unsafe: Allows `none`.
        container: What a container is asked for; its image and GPU are set here where they are not.

    Raises:
        UsageError: `none` without `unsafe`; settings of a container for another backend.
        SandboxUnavailable: The backend cannot be had here.
    """
    check_choice(name, unsafe, container)
    if name == "container":
        return Container((container or Settings()).with_gpu()).open()
    if name == "none":
        return Unconfined().open()
    return Jail(gpu=True).open()


def check_choice(name: str, unsafe: bool, container: Settings | None) -> None:
    """Refuse what `open_channel` would refuse whatever the machine, before anything starts.

    Raises:
        UsageError: `none` without `unsafe`; settings of a container for another backend.
    """
    if container is not None and name not in ("auto", "container"):
        raise UsageError(f"--sandbox {name} has no image, runtime, memory or cpus to set")
    if name == "none" and not unsafe:
        raise UsageError("--sandbox none runs the file unconfined; add --unsafe to say so")
