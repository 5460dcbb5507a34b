"""Connections that say nothing, or say it too slowly, are closed; so are those above a number.

uvicorn closes connections that are idle after a request. It waits for ever for the first one, and
for the end of headers that come letter by letter.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS = 512
HEADERS_S = 10.0
"""What a client may take from its first letter, or from connecting, to the end of its headers."""


class Connection(H11Protocol):
    """One connection, with that limit."""

    _due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
        else:
            self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        """Give the headers of the next request their time, unless a request is being answered.

        A connection that became a socket has no next request.
        """
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if is_answering or self.transport.get_protocol() is not self:
            self._stop()
        elif self._due is None:
            self._due = self.loop.call_later(HEADERS_S, self.transport.abort)

    def _stop(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None
