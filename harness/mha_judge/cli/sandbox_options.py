"""The options with which a command says how submissions are confined."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from mha_judge.errors import UsageError
from mha_judge.gpu import GpuAccess
from mha_judge.sandbox import BACKENDS, DEVICES, SandboxOptions, Settings
from mha_judge.sandbox.container.settings import parse_size


def _options(backend: str) -> tuple[Callable[..., Any], ...]:
    return (
        click.option(
            "--sandbox",
            "backend",
            type=click.Choice(["auto", *BACKENDS, "none"]),
            default=backend,
            show_default=True,
            help="How submissions are confined.",
        ),
        click.option("--unsafe", is_flag=True, help="Allow `--sandbox none`."),
        click.option(
            "--image", metavar="NAME", help=f"Container: the image; default {Settings.image}."
        ),
        click.option("--runtime", metavar="NAME", help="Container: a runtime, such as runsc."),
        click.option("--memory", metavar="SIZE", help="Container: total memory; default 3G."),
        click.option("--cpus", type=float, metavar="N", help="Container: processors; default 1."),
        click.option(
            "--device",
            type=click.Choice(DEVICES),
            default="auto",
            show_default=True,
            help="auto: run the checks on a GPU if one can be reached; cpu: leave them out; "
            "cuda: fail if none can be reached.",
        ),
    )


def sandbox_options(backend: str = "auto") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options, and call the command with `sandbox` and `gpus`, access to a GPU.

    Args:
        backend: Which is taken where none is named.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def wrapped(
            *args: Any,
            backend: str,
            unsafe: bool,
            image: str | None,
            runtime: str | None,
            memory: str | None,
            cpus: float | None,
            device: str,
            **options: Any,
        ) -> Any:
            asked: dict[str, Any] = {
                "image": image,
                "runtime": runtime,
                "memory_bytes": parse_size(memory) if memory is not None else None,
                "cpus": cpus,
            }
            given = {name: value for name, value in asked.items() if value is not None}
            settings = Settings(**given) if given else None
            if backend == "none" and not unsafe:  # said as a command has it, and not as Python has
                raise UsageError("--sandbox none runs the file unconfined; add --unsafe")
            sandbox = SandboxOptions(backend, unsafe, settings, device)
            gpus = GpuAccess(sandbox)
            if options.get("dask") is None:  # the device is one of the workers'
                gpus.require()
            return command(*args, sandbox=sandbox, gpus=gpus, **options)

        for option in reversed(_options(backend)):
            wrapped = option(wrapped)
        return wrapped

    return decorate
