"""What GPU checks need, found without importing torch or touching CUDA: nobody waits for it."""

from __future__ import annotations

import importlib.util
import os
import re
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from mha_judge.errors import SandboxUnavailable
from mha_judge.sandbox.container.settings import CUDA_IMAGE

_DRIVER = Path("/dev/nvidiactl")
_BUILD = re.compile(r"^cuda\b[^=\n]*=\s*['\"]([0-9.]+)['\"]", re.MULTILINE)


@dataclass(frozen=True)
class Need:
    """One thing that GPU checks need in a backend."""

    title: str
    missing: str | None
    """Why it is not there, with the remedy; None if it is."""


def needs(backend: str) -> list[Need]:
    """Return what a backend needs for a GPU, in the order in which one would install it."""
    if backend == "container":
        return _needs_of_container()
    return [
        Need("NVIDIA driver", driver_missing()),
        Need("CUDA build of torch", torch_missing()),
    ]


def why_not(backend: str) -> str | None:
    """Return the first thing that a backend lacks for a GPU, None if it lacks nothing.

    That nothing is missing does not prove that the device works: the worker that takes it does.
    """
    return next((need.missing for need in needs(backend) if need.missing), None)


def driver_missing() -> str | None:
    if _DRIVER.exists():
        return None
    return f"no CUDA device: {_DRIVER} is not there; install NVIDIA's driver"


def engine_is_elsewhere() -> bool:
    """Return whether Docker is reached over a network, where other devices may be."""
    host = os.environ.get("DOCKER_HOST", "")
    return bool(host) and not host.startswith("unix://")


def torch_missing() -> str | None:
    """Return why the torch of this interpreter cannot use a GPU."""
    found = importlib.util.find_spec("torch")
    folders = list(found.submodule_search_locations or []) if found is not None else []
    for folder in folders:
        version = Path(folder) / "version.py"
        if version.is_file() and _BUILD.search(version.read_text(encoding="utf-8")):
            return None
    return "this torch is a CPU build; install a CUDA build of it, or use the container"


def _needs_of_container() -> list[Need]:
    from mha_judge.sandbox.container.engine import connect, usable_image

    try:
        with closing(connect()) as engine:
            info = engine.info()
            toolkit = _toolkit_missing(info)
            try:
                usable_image(engine, CUDA_IMAGE)
                image = None
            except SandboxUnavailable as error:
                image = str(error)
    except SandboxUnavailable as error:
        return [Need("Docker Engine", str(error))]
    except OSError as error:
        return [Need("Docker Engine", f"Docker does not answer ({error})")]
    return [
        Need("Docker Engine", None),
        Need("NVIDIA Container Toolkit", toolkit),
        Need("CUDA image", image),
    ]


def _toolkit_missing(info: dict[str, object]) -> str | None:
    runtimes = info.get("Runtimes") or {}
    devices = str(info.get("DiscoveredDevices") or "") + str(info.get("CDISpecDirs") or "")
    if (isinstance(runtimes, dict) and "nvidia" in runtimes) or "nvidia" in devices.lower():
        return None
    return (
        "no CUDA device: Docker has no nvidia runtime; install the driver and the NVIDIA Container "
        "Toolkit, then run `nvidia-ctk runtime configure --runtime=docker` and restart Docker"
    )
