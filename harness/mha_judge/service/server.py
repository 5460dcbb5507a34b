"""From options to a server that answers, until it is told to stop."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from mha_judge.errors import UsageError
from mha_judge.library import Judge
from mha_judge.report.models import Reveal
from mha_judge.sandbox import SandboxOptions
from mha_judge.service.address import Address
from mha_judge.service.app import make_app
from mha_judge.service.gate import Gate
from mha_judge.service.metrics import Metrics
from mha_judge.service.queue import Queue
from mha_judge.service.running import run, tried
from mha_judge.service.store import Store
from mha_judge.service.tokens import Tokens

_DAY_S = 86_400.0
_FREE = frozenset({"/", "/healthz", "/readyz", "/docs", "/openapi.json"})


@dataclass(frozen=True)
class Options:
    """How a server runs."""

    bank: Path
    sandbox: SandboxOptions
    workers: int
    dask: str | None
    """The address of a cluster's scheduler, if it is to grade."""
    address: Address
    store: Path
    token_file: Path | None
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
        closing(options.address.listen()) as listening,
        closing(Store(options.store)) as store,
        Judge(
            bank=options.bank,
            sandbox=options.sandbox,
            workers=None if options.dask else options.workers,
            dask=options.dask,
        ) as judge,
    ):
        metrics = Metrics()
        metrics.confined(confined := tried(judge))
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
        gate = Gate(
            app,
            lambda _, headers: tokens.asker(headers.get("authorization")),
            options.address.names(listening, any_name=bool(tokens.roles)),
            free=_FREE.__contains__,
        )
        url = options.address.url(listening)
        say(f"answers run in {confined.sandbox.backend}: {confined.sandbox.tier}")
        say(f"serving on {url}; {url}/docs tells more")
        run(gate, listening, options.address, queue, options.drain_s, ws="none")


def _tokens(options: Options) -> Tokens:
    options.address.check()
    if options.token_file is not None:
        return Tokens.read(options.token_file)
    if not options.address.is_local:
        raise UsageError(
            f"--host {options.address.host} can be reached by others; pass --token-file, with a "
            "line `interviewer TOKEN`, readable by you alone"
        )
    return Tokens({})
