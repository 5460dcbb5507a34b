"""From options to rooms that people can enter, until the server is told to stop."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mha_judge.bank import Bank
from mha_judge.browser.messages import MAX_MESSAGE_BYTES
from mha_judge.errors import UsageError
from mha_judge.library import Judge
from mha_judge.pool.job import Place
from mha_judge.pool.tries import Tries
from mha_judge.report.models import Reveal
from mha_judge.room.app import asker_of, make_app
from mha_judge.room.hub import Hub
from mha_judge.room.log import Log
from mha_judge.room.texts import Texts
from mha_judge.sandbox import SandboxOptions
from mha_judge.service.address import Address
from mha_judge.service.gate import Gate
from mha_judge.service.metrics import Metrics
from mha_judge.service.queue import Queue
from mha_judge.service.running import run, tried
from mha_judge.service.store import Store

_DRAIN_S = 10
_QUEUE = 200
_QUEUE_TIMEOUT_S = 300
_KEEP_S = 30 * 86_400.0
"""Grades are in the log as well; this is for those that an end of the server cut off."""


@dataclass(frozen=True)
class Options:
    """How rooms are served."""

    bank: Path
    sandbox: SandboxOptions
    workers: int
    address: Address
    folder: Path
    """Holds the log of all rooms, and the store of their grades."""
    problems: list[str]
    """What each new room can show, in order."""
    rooms: int
    """How many new ones there are."""
    language: str
    sees: Reveal
    """How much of a report candidates see at first."""


def serve(options: Options, say: Callable[[str], None]) -> None:
    """Serve until SIGTERM or an interrupt. Rooms of earlier servers go on under their old links.

    Args:
        options: How.
        say: Told what the one who started it should know: for each new room two links.

    Raises:
        UsageError: The options do not fit together, or the port is in use.
        SandboxUnavailable: Answers cannot be confined here.
    """
    options.address.check()
    if not options.address.is_local and options.address.certificate is None:
        raise UsageError(
            f"--host {options.address.host} can be reached by others, who could read the links on "
            "their way; pass --certificate and --key, or leave TLS to a proxy that reaches this "
            "server on 127.0.0.1, and name it with --allow-host"
        )
    with (
        closing(options.address.listen()) as listening,
        closing(Store(options.folder / "grades.sqlite")) as store,  # one server has it alone
        closing(Log(options.folder / "rooms.sqlite")) as log,
        Judge(bank=options.bank, sandbox=options.sandbox, workers=options.workers) as judge,
        closing(Tries(Place(options.bank, options.sandbox.open))) as tries,
    ):
        confined = tried(judge)
        queue = Queue(
            judge, store, Metrics(), workers=judge.workers, most=_QUEUE,
            queue_timeout_s=_QUEUE_TIMEOUT_S, keep_s=_KEEP_S,
        )  # fmt: skip
        hub = Hub(log, queue, store, Texts(Bank.at(options.bank)), tries)
        url = options.address.url(listening)
        say(f"answers run in {confined.sandbox.backend}: {confined.sandbox.tier}")
        say(f"serving on {url}")
        base = _reached_at(options.address, url)
        for _ in range(options.rooms):
            keys = hub.make(options.problems, options.language, options.sees)
            room = f"{base}/rooms/{keys.room}/enter"
            say(f"room {keys.room}")
            say(f"  for the candidate:    {room}/{keys.candidate}")
            say(f"  for interviewers:     {room}/{keys.interviewer}")
        if options.rooms == 0:
            kept = len(log.rooms())
            if kept == 0:
                raise UsageError(
                    f"there is no room in {options.folder} that could go on; make one with --rooms"
                )
            say(f"{kept} rooms of before go on under their links")
        gate = Gate(
            make_app(hub, log, queue, secure=options.address.certificate is not None),
            partial(asker_of, log),
            options.address.names(listening, any_name=True),
            free=lambda _: True,  # routes ask for a role themselves, with words for people
        )
        run(
            gate, listening, options.address, queue, _DRAIN_S,
            ws="websockets-sansio", ws_max_size=MAX_MESSAGE_BYTES,
        )  # fmt: skip


def _reached_at(address: Address, url: str) -> str:
    """Return where others reach the server: under its first further name, through TLS."""
    if not address.allowed_hosts:
        return url
    port = "" if address.certificate is None else f":{url.rpartition(':')[2]}"
    return f"https://{address.allowed_hosts[0]}{port}"  # without a certificate, through a proxy
