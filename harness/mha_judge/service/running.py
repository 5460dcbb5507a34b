"""A socket that listens, and a program behind it that answers until it is told to stop."""

from __future__ import annotations

import asyncio
import ipaddress
import signal
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import uvicorn

from mha_judge.errors import UsageError
from mha_judge.library import Judge
from mha_judge.report.models import Report
from mha_judge.service.connections import Connection
from mha_judge.service.gate import Gate
from mha_judge.submission import Submission

_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
_BACKLOG = 512
_EVERYWHERE = ("0.0.0.0", "::")  # every address of the machine, under names that it need not know
_ANSWERING_S = 5
"""What replies may take once there is something to tell."""


@dataclass(frozen=True)
class Address:
    """Where a server is reached, and by whom."""

    host: str
    port: int
    allowed_hosts: tuple[str, ...]
    """Further names of it."""
    certificate: Path | None
    key: Path | None

    def check(self) -> None:
        """Check that the parts fit together.

        Raises:
            UsageError: They do not.
        """
        if (self.certificate is None) != (self.key is None):
            raise UsageError("--certificate and --key belong together; pass both, or none")

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def listen(self) -> socket.socket:
        """Return a socket that listens, before anything costly is started.

        Raises:
            UsageError: It cannot.
        """
        try:
            family = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0][0]
            return socket.create_server((self.host, self.port), family=family, backlog=_BACKLOG)
        except OSError as error:
            raise UsageError(
                f"{self.host}:{self.port} cannot be listened on: {error.strerror}; "
                "pass another --port or --host"
            ) from error

    def names(self, listening: socket.socket, *, any_name: bool) -> set[str] | None:
        """Return the names under which it is reached; None: any.

        Args:
            listening: Its socket.
            any_name: Whether it may be reached under any name, where it listens on all addresses
                and none is given.
        """
        if any_name and listening.getsockname()[0] in _EVERYWHERE and not self.allowed_hosts:
            return None
        return {*_LOCAL_NAMES, self.host, *self.allowed_hosts}

    def url(self, listening: socket.socket) -> str:
        """Return its address for a browser."""
        host, port = listening.getsockname()[:2]
        scheme = "http" if self.certificate is None else "https"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


class Accepted(Protocol):
    """What was accepted and is to be answered yet."""

    async def close(self, within_s: float) -> None:
        """Accept nothing more, and bring it to its end within so many seconds."""


def run(
    gate: Gate,
    listening: socket.socket,
    address: Address,
    accepted: Accepted,
    drain_s: int,
    **options: Any,
) -> None:
    """Answer until SIGTERM or an interrupt, then bring what was accepted to its end.

    Args:
        gate: What answers.
        listening: The socket.
        address: What it was made from.
        accepted: What was accepted.
        drain_s: How long that may take.
        options: Further ones of `uvicorn.Config`.

    Raises:
        UsageError: The certificate cannot be used.
    """
    config = uvicorn.Config(
        gate,
        http=Connection,
        log_level="warning",
        server_header=False,
        ssl_certfile=address.certificate,
        ssl_keyfile=address.key,
        timeout_graceful_shutdown=drain_s + _ANSWERING_S,
        **options,
    )
    try:
        config.load()
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"the certificate cannot be used: {error}") from error
    for stop in (signal.SIGTERM, signal.SIGINT):  # uvicorn hands them on when it has ended
        signal.signal(stop, lambda *_: None)
    asyncio.run(_Server(config, accepted, drain_s).serve(sockets=[listening]))


class _Server(uvicorn.Server):
    """A server that lets what was accepted come to its end while those who wait for it stay."""

    def __init__(self, config: uvicorn.Config, accepted: Accepted, drain_s: int) -> None:
        super().__init__(config)
        self._accepted = accepted
        self._drain_s = drain_s

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        closing = asyncio.create_task(self._accepted.close(self._drain_s))
        await super().shutdown(sockets)
        await closing


def tried(judge: Judge) -> Report:
    """Return what comes of a starter: that answers can be confined here is known by trying.

    Raises:
        SandboxUnavailable: They cannot.
    """
    problem = judge.problems()[0].id
    return judge.grade(Submission.of_text(judge.starter(problem)), problem, verdict_only=True)
