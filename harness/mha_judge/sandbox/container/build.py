"""Building the image: the context it is built from, and the engine's progress.

This machine's own pip gets the wheels, with the index, proxy and certificates that it is configured
with, so the build itself needs no network. The sources come from this package, so an installed
wheel builds the image as a checkout does.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from mha_judge.errors import JudgeError, SandboxUnavailable, UsageError
from mha_judge.sandbox.container.engine import connect, explained, usable_image
from mha_judge.version import __version__

PACKAGES = ("einops", "numpy", "py-landlock", "pyseccomp", "safetensors", "torch")
"""What the Dockerfile installs."""

BASE = f"python:3.{sys.version_info.minor}-slim-bookworm"
"""The base image by default: the Python that this machine's pip gets wheels for."""

_PACKAGE = Path(__file__).resolve().parents[2]
_PARTS = ("__init__.py", "wire", "worker")
"""The parts of this package that an image holds."""

_STEP = re.compile(r"Step (\d+)/(\d+) : (.*)", re.DOTALL)
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
_KEPT_LINES = 15


class BuildFailed(JudgeError):
    """The image could not be built; `printed` holds the last lines of the step that failed."""

    def __init__(self, message: str, printed: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.printed = tuple(printed)


@dataclass(frozen=True)
class Step:
    """How far a build has come."""

    step: int
    steps: int
    what: str


@dataclass(frozen=True)
class Recipe:
    """What to build."""

    tag: str
    base: str = BASE
    wheels: Path | None = None
    """A folder with every wheel that is needed; by default this machine's pip gets them."""
    torch_index: str | None = None
    """An index for torch; pip then gets all packages inside the build."""
    cuda: bool = False
    network: str | None = None
    """The network of a build that gets packages itself; other builds have none."""
    fresh: bool = False
    """Use no layer of an earlier build."""

    @property
    def online(self) -> bool:
        return self.torch_index is not None or (self.cuda and self.wheels is None)


def build(recipe: Recipe) -> Iterator[Step]:
    """Build the image, check it and tag it; yield each step as it begins.

    Raises:
        UsageError: The wheels are not there.
        SandboxUnavailable: The engine does not answer, or made an image that cannot be used.
        BuildFailed: A step failed; says what it printed.
    """
    with closing(connect()) as engine, tempfile.TemporaryDirectory() as folder:
        wheels = recipe.wheels
        if wheels is None and not recipe.online:
            yield Step(0, 0, "getting wheels with pip")
            wheels = Path(folder)
            _get_wheels(wheels)
        yield Step(0, 0, "sending the context to Docker")
        with _context(wheels) as context, explained():
            yield from _run(engine, recipe, context)
        usable_image(engine, recipe.tag)


def _run(engine: Any, recipe: Recipe, context: IO[bytes]) -> Iterator[Step]:
    said: list[str] = []
    for event in engine.build(
        fileobj=context,
        custom_context=True,
        tag=recipe.tag,
        buildargs=_arguments(recipe),
        network_mode=recipe.network if recipe.online else "none",
        nocache=recipe.fresh,
        rm=True,
        forcerm=True,
        decode=True,
        timeout=3600,
    ):
        if "error" in event:
            raise BuildFailed(_failure(recipe, str(event["error"]), said), said)
        text = _ESCAPE.sub("", str(event.get("stream", ""))).strip()
        if step := _STEP.match(text):
            yield Step(int(step[1]), int(step[2]), " ".join(step[3].split()))
        elif not text.startswith("---> "):
            said = [*said, *text.splitlines()][-_KEPT_LINES:]


def _arguments(recipe: Recipe) -> dict[str, str]:
    arguments = {"BASE": recipe.base, "VERSION": __version__}
    if not recipe.online:
        arguments["PIP_OPTIONS"] = "--no-index"
    if recipe.torch_index:
        arguments["TORCH_INDEX"] = recipe.torch_index
    return arguments


def _failure(recipe: Recipe, error: str, said: list[str]) -> str:
    lower = " ".join([error, *said]).lower()
    remedy = "what the step printed says why"
    if "no space left" in lower:
        remedy = "the disk is full; free some: `docker system prune`"
    elif "no matching distribution" in lower and not recipe.online:
        remedy = (
            f"the wheels are for Python 3.{sys.version_info.minor}; does {recipe.base} have the "
            "same? Name another --base, or let the build get its own: --torch-index URL"
        )
    elif "pull access denied" in lower or "manifest unknown" in lower or "dial tcp" in lower:
        remedy = f"the base image {recipe.base} cannot be had; name one that is here: --base"
    return f"the image was not built: {' '.join(error.split())[:300]}; {remedy}"


def _get_wheels(folder: Path) -> None:
    """Let this interpreter's pip download the wheels that the image needs."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download"]
    constraints = ["-c", str(beside("constraints.txt"))]
    done = subprocess.run(
        [*pip, "--only-binary=:all:", *constraints, "--dest", str(folder), *PACKAGES],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BuildFailed(
            "pip could not get the wheels; get them yourself and name their folder with --wheels, "
            "or name torch's index with --torch-index",
            done.stderr.splitlines()[-_KEPT_LINES:],
        )


@contextmanager
def _context(wheels: Path | None) -> Iterator[IO[bytes]]:
    """Yield the context as a tar: what the Dockerfile copies, laid out as in a checkout."""
    files: Mapping[str, Path] = {
        "Dockerfile": beside("Dockerfile"),
        "constraints.txt": beside("constraints.txt"),
        **{f"harness/mha_judge/{part}": _PACKAGE / part for part in _PARTS},
    }
    found = sorted(wheels.glob("*.whl")) if wheels is not None else []
    if wheels is not None and not found:
        raise UsageError(f"{wheels} holds no wheels; fill it with `pip download`")
    with tempfile.TemporaryFile() as packed:
        with tarfile.open(fileobj=packed, mode="w") as tar:
            for name, path in files.items():
                tar.add(path, name, filter=_plain)
            for path in found:
                tar.add(path, f"wheels/{path.name}", filter=_plain)
        packed.seek(0, io.SEEK_SET)
        yield packed


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Leave out bytecode; give all users the same owner and mode, so that layers are cached."""
    if "__pycache__" in member.name:
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o755 if member.isdir() else 0o644
    return member


def beside(name: str) -> Path:
    """Return a file that lies beside this module in a wheel, and at the top of a checkout.

    Raises:
        SandboxUnavailable: It is not there.
    """
    for folder in (Path(__file__).parent, _PACKAGE.parents[1]):
        if (folder / name).is_file():
            return folder / name
    raise SandboxUnavailable(f"{name} is missing; install mha-judge again")
