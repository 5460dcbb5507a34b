"""From options to a server that answers, until it is told to stop."""

from __future__ import annotations

import asyncio
import ipaddress
import signal
import socket
import ssl
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from mha_judge.errors import UsageError
from mha_judge.library import Judge
from mha_judge.report.models import Report, Reveal
from mha_judge.sandbox import SandboxOptions
from mha_judge.service.app import make_app
from mha_judge.service.connections import Connection
from mha_judge.service.gate import Gate
from mha_judge.service.metrics import Metrics
from mha_judge.service.queue import Queue
from mha_judge.service.store import Store
from mha_judge.service.tokens import Tokens
from mha_judge.submission import Submission

_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
_DAY_S = 86_400.0
_BACKLOG = 512
_EVERYWHERE = ("0.0.0.0", "::")  # every address of the machine, under names that it need not know
_ANSWERING_S = 5
"""What replies may take once there is something to tell."""


@dataclass(frozen=True)
class Options:
    """How a server runs."""

    bank: Path
    sandbox: SandboxOptions
    workers: int
    dask: str | None
    """The address of a cluster's scheduler, if it is to grade."""
    host: str
    port: int
    store: Path
    token_file: Path | None
    allowed_hosts: tuple[str, ...]
    certificate: Path | None
    key: Path | None
    most: int
    queue_timeout_s: int
    drain_s: int
    keep_days: int
    candidates_see: Reveal


def serve(options: Options, say: Callable[[str], None]) -> None:
    """Serve until SIGTERM or an interrupt, then bring what was accepted to its end.

    Args:
        options: How.
        say: Told what the one who started it should know.

    Raises:
        UsageError: The options do not fit together, or the port is in use.
        SandboxUnavailable: Answers cannot be confined here.
    """
    tokens = _tokens(options)
    with (
        closing(_listening(options)) as listening,
        closing(Store(options.store)) as store,
        Judge(
            bank=options.bank,
            sandbox=options.sandbox,
            workers=None if options.dask else options.workers,
            dask=options.dask,
        ) as judge,
    ):
        metrics = Metrics()
        metrics.confined(confined := _tried(judge))
        queue = Queue(
            judge, store, metrics,
            workers=judge.workers, most=options.most, queue_timeout_s=options.queue_timeout_s,
            keep_s=options.keep_days * _DAY_S,
        )  # fmt: skip
        app = make_app(
            judge,
            queue,
            store,
            metrics,
            candidates_see=options.candidates_see,
            tokens=bool(tokens.roles),
        )
        host, port = listening.getsockname()[:2]
        hosts = {*_LOCAL_NAMES, options.host, *options.allowed_hosts}
        everywhere = host in _EVERYWHERE and tokens.roles and not options.allowed_hosts
        config = uvicorn.Config(
            Gate(app, tokens, None if everywhere else hosts),
            http=Connection,
            ws="none",
            log_level="warning",
            server_header=False,
            ssl_certfile=options.certificate,
            ssl_keyfile=options.key,
            timeout_graceful_shutdown=options.drain_s + _ANSWERING_S,
        )
        try:
            config.load()
        except (OSError, ssl.SSLError) as error:
            raise UsageError(f"the certificate cannot be used: {error}") from error
        scheme = "http" if options.certificate is None else "https"
        place = f"[{host}]" if ":" in host else host
        say(f"answers run in {confined.sandbox.backend}: {confined.sandbox.tier}")
        say(f"serving on {scheme}://{place}:{port}; {scheme}://{place}:{port}/docs tells more")
        for stop in (signal.SIGTERM, signal.SIGINT):  # uvicorn hands them on when it has ended
            signal.signal(stop, lambda *_: None)
        asyncio.run(_Server(config, queue, options.drain_s).serve(sockets=[listening]))


class _Server(uvicorn.Server):
    """A server that lets what was accepted come to its end while those who wait for it stay."""

    def __init__(self, config: uvicorn.Config, queue: Queue, drain_s: int) -> None:
        super().__init__(config)
        self._queue = queue
        self._drain_s = drain_s

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        closing = asyncio.create_task(self._queue.close(self._drain_s))
        await super().shutdown(sockets)
        await closing


def _tokens(options: Options) -> Tokens:
    if (options.certificate is None) != (options.key is None):
        raise UsageError("--certificate and --key belong together; pass both, or none")
    if options.token_file is not None:
        return Tokens.read(options.token_file)
    if not _is_local(options.host):
        raise UsageError(
            f"--host {options.host} can be reached by others; pass --token-file, with a line "
            "`interviewer TOKEN`, readable by you alone"
        )
    return Tokens({})


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listening(options: Options) -> socket.socket:
    """Return a socket that listens, before anything costly is started."""
    try:
        family = socket.getaddrinfo(options.host, options.port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((options.host, options.port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise UsageError(
            f"{options.host}:{options.port} cannot be listened on: {error.strerror}; "
            "pass another --port or --host"
        ) from error


def _tried(judge: Judge) -> Report:
    """Return what comes of a starter: that answers can be confined here is known by trying."""
    problem = judge.problems()[0].id
    return judge.grade(Submission.of_text(judge.starter(problem)), problem, verdict_only=True)
