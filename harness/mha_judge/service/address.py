"""Where a server is reached, and by whom."""

from __future__ import annotations

import ipaddress
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path

from mha_judge.errors import UsageError

_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
_BACKLOG = 512
_EVERYWHERE = ("0.0.0.0", "::")  # every address of the machine, under names that it need not know


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
        """Check that the parts fit together, and that the certificate can be used.

        Raises:
            UsageError: They do not, or it cannot.
        """
        if (self.certificate is None) != (self.key is None):
            raise UsageError("--certificate and --key belong together; pass both, or none")
        if self.certificate is not None and self.key is not None:
            try:
                ssl.create_default_context().load_cert_chain(self.certificate, self.key)
            except (OSError, ssl.SSLError) as error:
                raise UsageError(
                    f"{self.certificate} and {self.key} cannot be used as certificate and key: "
                    f"{error}"
                ) from error

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
