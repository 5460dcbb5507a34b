"""The options with which a command says where its server is reached."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from mha_judge.service.address import Address

_PEM = click.Path(path_type=Path, dir_okay=False)


def address_options(port: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options, and call the command with `address`.

    Args:
        port: Which is taken where none is named.
    """
    options = (
        click.option(
            "--host", default="127.0.0.1", show_default=True, help="Address to listen on."
        ),
        click.option(
            "--port",
            type=click.IntRange(0, 65535),
            default=port,
            show_default=True,
            help="Port to listen on; 0 takes any.",
        ),
        click.option(
            "--allow-host",
            "allowed",
            metavar="NAME",
            multiple=True,
            help="A further name of this server (repeatable).",
        ),
        click.option(
            "--certificate", type=_PEM, metavar="PATH", help="TLS: the certificate chain, as PEM."
        ),
        click.option("--key", type=_PEM, metavar="PATH", help="TLS: its private key, as PEM."),
    )

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def wrapped(
            *args: Any,
            host: str,
            port: int,
            allowed: tuple[str, ...],
            certificate: Path | None,
            key: Path | None,
            **others: Any,
        ) -> Any:
            address = Address(host, port, allowed, certificate, key)
            return command(*args, address=address, **others)

        for option in reversed(options):
            wrapped = option(wrapped)
        return wrapped

    return decorate
