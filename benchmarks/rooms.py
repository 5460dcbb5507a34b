"""Rooms under load: how long a keystroke takes to the other browser, beside an echo server."""

from __future__ import annotations

import asyncio
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from answers import SUBMISSIONS
from measure import JUDGE, Figure, figure
from websockets.asyncio.client import ClientConnection, connect

ROOMS = 50
TYPING_S = 60
_BETWEEN_KEYS_S = 0.25
"""In the mean; 4 letters a second are 48 words a minute."""
_BETWEEN_RUNS_S = 10
_WANTED_MS = 100
_PROBLEM = "sinusoidal-positions"
_ANSWER = SUBMISSIONS / _PROBLEM / "right_complex_exponentials.py"
_LINK = re.compile(r"(\S+)/rooms/([\w-]+)/enter/([\w-]+)$", re.MULTILINE)
_ECHO = """
import asyncio
from websockets.asyncio.server import serve

async def echo(socket):
    async for message in socket:
        await socket.send(message)

async def main():
    async with serve(echo, "127.0.0.1", 0, compression=None) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.Future()

asyncio.run(main())
"""


@dataclass
class _Ways:
    """What keystrokes took, in milliseconds."""

    room: list[float] = field(default_factory=list)
    """From one browser's letter until the other browser of the room is told."""
    echo: list[float] = field(default_factory=list)
    """The same message there and back, between the same letters."""
    runs: int = 0


def figures(repetitions: int) -> Iterator[Figure]:
    """Yield what keystrokes take in many rooms, with and without grades at the same time."""
    for runs in (False, True):
        ways = [_typed(runs) for _ in range(repetitions)]
        tails = [(_tail(way.room), _tail(way.echo)) for way in ways]
        graded = statistics.fmean(way.runs for way in ways)
        told = f"{ROOMS} rooms, {sum(len(way.room) for way in ways):,} keystrokes, 2 workers"
        which = f"{ROOMS} rooms, grading" if runs else f"{ROOMS} rooms"
        note = f"{told}, {graded:.0f} runs asked for" if runs else told
        yield figure(f"{which}: 99 % of keystrokes / echo", tails, unit="ms", note=note)
    wanted = [(room, _WANTED_MS) for room, _ in tails]
    yield figure(f"{which}: 99 % of keystrokes / {_WANTED_MS} ms", wanted, "≤", 1, unit="ms")


def _tail(times: list[float]) -> float:
    return statistics.quantiles(times, n=100)[98]


def _typed(runs: bool) -> _Ways:
    with tempfile.TemporaryDirectory() as name, _echo() as port, _rooms(Path(name)) as links:
        return asyncio.run(_type_in_all(links, port, runs))


@contextmanager
def _echo() -> Iterator[int]:
    command = (sys.executable, "-c", _ECHO)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.kill()


@contextmanager
def _rooms(folder: Path) -> Iterator[list[tuple[str, str, str]]]:
    """Give address, room and key, of the candidate and of interviewers in turn."""
    command = (
        JUDGE, "room", _PROBLEM, "--port", "0", "--rooms", str(ROOMS), "--sandbox", "jail", "-j",
        "2", "--store", str(folder),
    )  # fmt: skip
    out = folder / "out"
    with out.open("w") as told, subprocess.Popen(command, stdout=told, stderr=told) as process:
        while len(links := _LINK.findall(out.read_text("utf-8"))) < 2 * ROOMS:
            if process.poll() is not None:
                raise RuntimeError(out.read_text("utf-8"))
            time.sleep(0.1)
        yield [(url.split()[-1], room, key) for url, room, key in links]
        process.terminate()


async def _type_in_all(links: list[tuple[str, str, str]], port: int, runs: bool) -> _Ways:
    ways = _Ways()
    async with AsyncExitStack() as stack:
        rooms = []
        for one, other in zip(links[::2], links[1::2], strict=True):
            sockets = [await stack.enter_async_context(_enter(*link)) for link in (one, other)]
            echo = await stack.enter_async_context(
                connect(f"ws://127.0.0.1:{port}", compression=None, proxy=None)
            )
            rooms.append((*sockets, echo))
        until = time.monotonic() + TYPING_S
        await asyncio.gather(*(_type(*room, until, runs, ways) for room in rooms))
    return ways


def _enter(url: str, room: str, key: str) -> connect:
    headers = {"Cookie": f"mha-judge-room={key}", "Origin": url}
    address = f"{url.replace('http', 'ws')}/rooms/{room}/socket"
    return connect(address, additional_headers=headers, max_size=None, proxy=None, open_timeout=60)


async def _type(
    typing: ClientConnection,
    watching: ClientConnection,
    echo: ClientConnection,
    until: float,
    runs: bool,
    ways: _Ways,
) -> None:
    """Type into one room, with runs in between, and take the time of every letter."""
    for socket in (typing, watching):
        await _send(socket, kind="here", versions={})
    told = await _next(typing, "room")
    await _next(watching, "room")
    reading = asyncio.create_task(_read(typing))
    length, version = len(told["text"]), told["version"]
    change: list[Any] = [[length, *_ANSWER.read_text("utf-8").split("\n"), "# "]]
    length = len(_ANSWER.read_text("utf-8")) + 3
    run_at = time.monotonic() + random.uniform(0, _BETWEEN_RUNS_S)
    is_first = True
    while time.monotonic() < until:
        message = {
            "kind": "push", "problem": _PROBLEM, "version": version, "client": "a",
            "changes": [change],
        }  # fmt: skip
        began = time.perf_counter()
        await _send(typing, **message)
        version = (await _next(watching, "changes"))["version"]
        if not is_first:
            ways.room.append(1e3 * (time.perf_counter() - began))
            began = time.perf_counter()
            await _send(echo, **message)
            await echo.recv()
            ways.echo.append(1e3 * (time.perf_counter() - began))
        is_first = False
        change, length = [length, [0, "x"]], length + 1
        if runs and time.monotonic() > run_at:
            run_at += _BETWEEN_RUNS_S
            ways.runs += 1
            await _send(typing, kind="run", problem=_PROBLEM)
        await asyncio.sleep(random.expovariate(1 / _BETWEEN_KEYS_S))
    reading.cancel()


async def _read(socket: ClientConnection) -> None:
    async for _ in socket:
        pass


async def _send(socket: ClientConnection, **message: Any) -> None:
    await socket.send(json.dumps(message))


async def _next(socket: ClientConnection, kind: str) -> dict[str, Any]:
    while True:
        told: dict[str, Any] = json.loads(await socket.recv())
        if told["kind"] == kind:
            return told
