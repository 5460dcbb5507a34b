"""A supervisor in a container, over the stream that the engine attaches to it."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
import time
from typing import Any

from mha_judge.errors import SandboxBroken, SandboxUnavailable
from mha_judge.sandbox.container import flags
from mha_judge.sandbox.container.engine import explained
from mha_judge.sandbox.container.owner import sweep
from mha_judge.sandbox.container.settings import Settings
from mha_judge.sandbox.transport import GRACE_S, last_line, wait_to_receive, wait_to_send
from mha_judge.wire import encode_frame

_STREAM = struct.Struct(">BxxxI")
"""The header of the engine's frames: which stream of the container, how many bytes."""
_STDERR = 2
_WOULD_BLOCK = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
_KEPT_COMPLAINTS = 16 * 1024
_ALIVE_EVERY_S = flags.LEASE_S / 6
_ALIVE = encode_frame({"id": 0, "op": "alive"})


class ContainerTransport:
    """Makes a container, starts it and speaks to it; see `Transport` for the contract.

    The container is made at once, in a few milliseconds, and started in the background, so that the
    judge imports torch meanwhile. Until `close`, a second thread tells it every few seconds that
    the judge is alive.

    Raises:
        SandboxUnavailable: The engine refuses to make the container as it was asked for.
    """

    holds = 48 * 1024
    """Less than the smallest pipe that the engine may use holds."""

    def __init__(self, engine: Any, image: str, settings: Settings) -> None:
        self._engine = engine
        self._id = ""
        self._attached: Any = None
        self._socket: socket.socket | None = None
        self._failure: Exception | None = None
        self._pending = bytearray()
        self._left, self._stream = 0, 0  # of the engine's frame that is being read
        self._complaints = bytearray()
        self._closed = threading.Event()
        self._sending = threading.Lock()
        self._keeper = threading.Thread(target=self._keep_alive, daemon=True)
        self._starter = threading.Thread(target=self._start, daemon=True)
        try:
            with explained():
                self._make(flags.creation(engine, image, settings))
        except SandboxUnavailable:
            self._remove()
            raise
        self._starter.start()

    def send(self, data: bytes, deadline: float) -> None:
        connection = self._connection()
        with self._sending:
            self._send_all(connection, data, deadline)

    def receive(self, deadline: float) -> bytes:
        connection = self._connection()
        while not (data := self._demultiplexed()):
            try:
                arrived = connection.recv(1 << 20)
            except _WOULD_BLOCK:
                wait_to_receive(connection, deadline)
                continue
            except OSError as error:
                raise SandboxBroken(f"the connection to the container broke: {error}") from error
            if not arrived:
                raise SandboxBroken(
                    f"the container is gone ({self.last_words()}); did Docker stop?"
                )
            self._pending += arrived
        return data

    def last_words(self) -> str:
        return last_line(bytes(self._complaints))

    def close(self) -> None:
        self._closed.set()
        self._starter.join()
        if self._keeper.is_alive():
            self._keeper.join()
        if self._socket is not None:
            self._attached.close()  # a socket stays open while its SocketIO is
            self._socket.close()
            self._socket = None
        self._remove()
        self._engine.close()

    def _make(self, arguments: dict[str, Any]) -> None:
        made = self._engine.create_container(**arguments)
        self._id = made["Id"]
        if made.get("Warnings"):
            raise SandboxUnavailable(
                f"Docker cannot enforce every limit: {' '.join(made['Warnings'])[:500]}; enable "
                "the control group controllers memory, pids and cpu, or pass --sandbox jail"
            )
        self._socket = self._attach()

    def _start(self) -> None:
        """Start the container, then the thread that keeps its lease."""
        try:
            with explained():
                self._engine.start(self._id)
        except Exception as error:  # raised again by whoever needs the container
            self._failure = error
            return
        self._keeper.start()

    def _attach(self) -> socket.socket:
        """Attach before the start, so that no output is missed."""
        wanted = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        self._attached = attached = self._engine.attach_socket(self._id, params=wanted)
        # a SocketIO around the socket for a local engine, the socket itself over TLS
        connection: socket.socket = getattr(attached, "_sock", attached)
        connection.setblocking(False)  # a timeout would hold for all threads
        return connection

    def _connection(self) -> socket.socket:
        self._starter.join()
        if self._failure is not None:
            raise self._failure
        if self._socket is None:
            raise SandboxBroken("the container was closed")
        return self._socket

    def _send_all(self, connection: socket.socket, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[connection.send(view[: 1 << 20]) :]
            except _WOULD_BLOCK:
                wait_to_send(connection, deadline)
            except OSError as error:
                raise SandboxBroken(
                    f"the container is gone ({self.last_words()}); did Docker stop?"
                ) from error

    def _demultiplexed(self) -> bytes:
        """Return what has arrived of the supervisor's standard output; keep its standard error."""
        words = bytearray()
        while self._pending:
            if not self._left:
                if len(self._pending) < _STREAM.size:
                    break
                self._stream, self._left = _STREAM.unpack_from(self._pending)
                del self._pending[: _STREAM.size]
            piece = self._pending[: self._left]
            del self._pending[: self._left]
            self._left -= len(piece)
            if self._stream == _STDERR:
                self._complaints = (self._complaints + piece)[-_KEPT_COMPLAINTS:]
            else:
                words += piece
        return bytes(words)

    def _keep_alive(self) -> None:
        sweep(self._engine)
        while not self._closed.wait(_ALIVE_EVERY_S):
            if self._sending.acquire(blocking=False):  # else the judge is speaking anyway
                try:
                    with contextlib.suppress(SandboxBroken):  # the judge will notice by itself
                        assert self._socket is not None
                        self._send_all(self._socket, _ALIVE, time.monotonic() + GRACE_S)
                finally:
                    self._sending.release()

    def _remove(self) -> None:
        """Remove the container; one that ended by itself is being removed already."""
        if not self._id:
            return
        from docker.errors import DockerException
        from requests import RequestException

        with contextlib.suppress(DockerException, RequestException, OSError):
            self._engine.remove_container(self._id, force=True)
