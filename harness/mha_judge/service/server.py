"""From options to a server that answers, until it is told to stop."""

from __future__ import annotations

import asyncio
import ipaddress
import math
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
from mha_judge.service.desk import Desk
from mha_judge.service.gate import Gate
from mha_judge.service.metrics import Metrics
from mha_judge.service.store import Store
from mha_judge.service.tokens import Tokens
from mha_judge.submission import Submission

_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
_DAY_S = 86_400.0
_BACKLOG = 512


@dataclass(frozen=True)
class Options:
    """How a server runs."""

    bank: Path
    sandbox: SandboxOptions
    workers: int
    host: str
    port: int
    store: Path
    token_file: Path | None
    allowed_hosts: tuple[str, ...]
    certificate: Path | None
    key: Path | None
    most: int
    queue_timeout_s: float
    drain_s: float
    keep_days: float
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
        Judge(bank=options.bank, sandbox=options.sandbox, workers=options.workers) as judge,
    ):
        metrics = Metrics()
        metrics.confined(confined := _tried(judge))
        desk = Desk(
            judge, store, metrics,
            workers=options.workers, most=options.most, queue_timeout_s=options.queue_timeout_s,
            keep_s=options.keep_days * _DAY_S,
        )  # fmt: skip
        app = make_app(
            judge,
            desk,
            store,
            metrics,
            candidates_see=options.candidates_see,
            drain_s=options.drain_s,
            tokens=bool(tokens.roles),
        )
        host, port = listening.getsockname()[:2]
        hosts = {*_LOCAL_NAMES, options.host, *options.allowed_hosts}
        config = uvicorn.Config(
            Gate(app, tokens, hosts),
            http=Connection,
            ws="none",
            log_level="warning",
            server_header=False,
            ssl_certfile=options.certificate,
            ssl_keyfile=options.key,
            timeout_graceful_shutdown=math.ceil(options.drain_s),
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
        asyncio.run(uvicorn.Server(config).serve(sockets=[listening]))


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
        return socket.create_server(
            (options.host, options.port), family=family, backlog=_BACKLOG, reuse_port=False
        )
    except OSError as error:
        raise UsageError(
            f"{options.host}:{options.port} cannot be listened on: {error.strerror}; "
            "pass another --port or --host"
        ) from error


def _tried(judge: Judge) -> Report:
    """Return what comes of a starter: that answers can be confined here is known by trying."""
    problem = judge.problems()[0].id
    return judge.grade(Submission.of_text(judge.starter(problem)), problem, verdict_only=True)
