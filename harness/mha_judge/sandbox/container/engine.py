"""The Docker Engine through its SDK: reaching it, and what its errors mean for a user.

The SDK is imported only where it is used: commands without a container must not wait for it.
"""

from __future__ import annotations

import errno
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mha_judge.errors import SandboxUnavailable
from mha_judge.extras import require_extra
from mha_judge.sandbox.container.settings import CUDA_IMAGE, IMAGE
from mha_judge.wire import PROTOCOL

PROTOCOL_LABEL = "mha-judge.protocol"
TIMEOUT_S = 60

_BUILT_WITH = {IMAGE: "", CUDA_IMAGE: " --gpu"}
_SOCKET = Path("/var/run/docker.sock")
_START = "start it (`systemctl start docker`, or Docker Desktop)"
_JAIL = "or pass --sandbox jail"


def connect() -> Any:
    """Return a client of the engine that DOCKER_HOST or Docker's current context names.

    Raises:
        SandboxUnavailable: The engine does not answer, or the SDK is missing; says what to do.
    """
    require_extra("container", "the container sandbox", SandboxUnavailable)
    host = os.environ.get("DOCKER_HOST")
    if host is None and not _has_contexts():
        host = f"unix://{_SOCKET}"
    _knock(host)
    from docker import APIClient
    from docker.context import ContextAPI
    from docker.utils import kwargs_from_env

    with explained():
        chosen = ContextAPI.kwargs_from_context() if host is None else {}
        _knock(chosen.get("base_url"))
        options = {"base_url": host or f"unix://{_SOCKET}", **kwargs_from_env(), **chosen}
        return APIClient(version="auto", timeout=TIMEOUT_S, **options)


def usable_image(engine: Any, name: str) -> str:
    """Return the id of the image called `name`, whose worker speaks our protocol.

    Raises:
        SandboxUnavailable: There is no such image, or it was built for another judge.
    """
    from docker.errors import ImageNotFound

    build = "mha-judge sandbox build" + _BUILT_WITH.get(name, f" --tag {name}")
    with explained():
        try:
            found = engine.inspect_image(name)
        except ImageNotFound as error:
            raise SandboxUnavailable(
                f"Docker has no image {name}; build it: `{build}`, {_JAIL}"
            ) from error
    spoken = (found["Config"].get("Labels") or {}).get(PROTOCOL_LABEL)
    if spoken != str(PROTOCOL):
        what = f"speaks protocol {spoken}" if spoken else "is no sandbox of mha-judge"
        raise SandboxUnavailable(
            f"the image {name} {what}, this judge needs protocol {PROTOCOL}; rebuild it: `{build}`"
        )
    return str(found["Id"])


@contextmanager
def explained() -> Iterator[None]:
    """Turn what the SDK raises inside the block into `SandboxUnavailable` with a remedy."""
    from docker.errors import APIError, DockerException
    from requests import RequestException

    try:
        yield
    except APIError as error:
        raise SandboxUnavailable(_refusal(str(error.explanation or error))) from error
    except (DockerException, RequestException, OSError, ValueError) as error:
        raise SandboxUnavailable(_unreachable(error)) from error


def _refusal(text: str) -> str:
    """Return what a refusal of the engine means, with a remedy."""
    text = " ".join(text.split())[:500]
    lower = text.lower()
    if "no space left" in lower:
        return f"Docker's disk is full ({text}); free some: `docker system prune`, {_JAIL}"
    if re.search(r"\b(unknown|invalid) runtime\b", lower):
        return f"Docker does not know this runtime ({text}); register it, or omit --runtime"
    return f"Docker refused: {text}; see `docker info`, {_JAIL}"


def _unreachable(error: BaseException) -> str:
    """Return why the engine does not answer, from the operating system's error that caused it."""
    numbers = {cause.errno for cause in _causes(error) if isinstance(cause, OSError)}
    if numbers & {errno.EACCES, errno.EPERM}:
        return (
            "no permission to talk to Docker; join its group (`sudo usermod -aG docker $USER`, then"
            f" log in again), {_JAIL}"
        )
    if errno.ENOSPC in numbers:
        return f"the disk is full; free some space, {_JAIL}"
    if numbers & {errno.ENOENT, errno.ECONNREFUSED}:
        return f"Docker does not answer; {_START}, {_JAIL}"
    return f"Docker does not answer ({str(error)[:200]}); {_START}, {_JAIL}"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and all it wraps: the libraries keep causes in attributes and in arguments."""
    pending, seen = [error], set[int]()
    while pending:
        current = pending.pop()
        if not isinstance(current, BaseException) or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        pending += [current.__cause__, current.__context__, *current.args]


def _has_contexts() -> bool:
    folder = Path(os.environ.get("DOCKER_CONFIG") or Path.home() / ".docker")
    return "DOCKER_CONTEXT" in os.environ or (folder / "config.json").exists()


def _knock(host: str | None) -> None:
    """Check that a local engine answers, before anyone waits for the import of the SDK.

    Raises:
        SandboxUnavailable: It does not answer.
    """
    if host is None or not host.startswith("unix://"):
        return
    with socket.socket(socket.AF_UNIX) as door:
        try:
            door.connect(host.removeprefix("unix://"))
        except OSError as error:
            raise SandboxUnavailable(_unreachable(error)) from error
