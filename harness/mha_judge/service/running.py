"""A socket that listens, and a program behind it that answers until it is told to stop."""

from __future__ import annotations

import asyncio
import signal
import socket
from typing import Any, Protocol

import uvicorn

from mha_judge.library import Judge
from mha_judge.report.models import Report
from mha_judge.service.address import Address
from mha_judge.service.connections import Connection
from mha_judge.service.gate import Gate
from mha_judge.submission import Submission

_ANSWERING_S = 5
"""What replies may take once there is something to tell."""


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
    config.load()
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
