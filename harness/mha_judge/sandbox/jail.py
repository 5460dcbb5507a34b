"""The embedded default: Landlock, seccomp and rlimits on each worker, in bubblewrap if installed.

No daemon, no root, no image. Where the machine allows it, bubblewrap adds namespaces around the
supervisor; a worker's own confinement depends on them only if the kernel has no Landlock.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mha_judge.errors import SandboxUnavailable
from mha_judge.sandbox.base import Channel, Tier
from mha_judge.sandbox.channel import SupervisorChannel
from mha_judge.sandbox.launch import spawn
from mha_judge.sandbox.transport import PipeTransport
from mha_judge.worker import confinement
from mha_judge.worker.confinement import paths

if TYPE_CHECKING:
    from mha_judge.sandbox.events import Surroundings
    from mha_judge.sandbox.limits import Limits


class Jail:
    """Kernel confinement without a daemon."""

    name = "jail"

    def __init__(self, bubblewrap: bool | None = None, gpu: bool = False) -> None:
        """Choose whether to use bubblewrap, and whether workers can reach NVIDIA's devices.

        Args:
            bubblewrap: Use it if True, never if False, and if it works here if None.
            gpu: Bind the devices inside bubblewrap. A worker reaches them only if its limits say so
                too.
        """
        self._bubblewrap = bubblewrap
        self._gpu = gpu

    def unavailable(self) -> str | None:
        return confinement.unavailable(may_lack_landlock=self._program() is not None)

    def _program(self) -> str | None:
        return shutil.which("bwrap") if self._bubblewrap is not False else None

    def open(self) -> Channel:
        if sys.platform != "linux":  # the first worker reports anything else that is missing
            raise SandboxUnavailable(str(self.unavailable()))
        program = self._program()
        if program is None:
            if self._bubblewrap:
                raise SandboxUnavailable("bubblewrap is not installed; install it, or use the jail")
            return SupervisorChannel(PipeTransport(spawn()), _plain)
        if self._bubblewrap:
            return _in_bubblewrap(program, self._gpu)
        return _FirstThatStarts(program, self._gpu)


class _FirstThatStarts:
    """A supervisor in bubblewrap, or a plain one where bubblewrap is refused its namespaces.

    Only trying shows whether it is refused, and trying must not delay users for whom it works.
    """

    def __init__(self, program: str, gpu: bool) -> None:
        self._channel = _in_bubblewrap(program, gpu)
        self._certain = False

    def start(self, limits: Limits) -> Tier:
        if not self._certain:
            try:
                self._channel.wait_until_ready()
            except SandboxUnavailable:
                self._channel.close()
                self._channel = SupervisorChannel(PipeTransport(spawn()), _plain)
            self._certain = True
        return self._channel.start(limits)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._channel, name)


def _plain(details: dict[str, Any], _: Surroundings) -> Tier:
    return Tier("jail", "landlock+seccomp+rlimits", {**details, "bubblewrap": False})


def _in_bubblewrap(program: str, gpu: bool) -> SupervisorChannel:
    started = spawn(_wrapping(program, gpu), "--may-lack-landlock")
    return SupervisorChannel(PipeTransport(started), _wrapped)


def _wrapped(details: dict[str, Any], _: Surroundings) -> Tier:
    landlock = "landlock+" if details.get("landlock_abi") else ""
    return Tier("jail", f"bubblewrap+{landlock}seccomp+rlimits", {**details, "bubblewrap": True})


def _wrapping(program: str, gpu: bool) -> tuple[str, ...]:
    """Return the bubblewrap command: new namespaces, and read-only binds of what Python needs.

    The supervisor is the first process there: bubblewrap's own would have the judge's pipes, and a
    worker's uid. What bubblewrap makes in memory is read-only as well: workers follow each other.
    """
    binds: list[str] = []
    for path in _needed_paths():
        binds += ["--ro-bind-try", path, path]
    for device in map(str, paths.gpu_devices() if gpu else ()):
        binds += ["--dev-bind-try", device, device]
    for folder in map(str, paths.gpu_readable() if gpu else ()):
        if not folder.startswith("/proc/"):  # the new /proc has them
            binds += ["--ro-bind-try", folder, folder]
    return (
        program, "--unshare-all", "--as-pid-1", "--die-with-parent", "--new-session",
        "--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev", *binds,
        "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/", "--",
    )  # fmt: skip


def _needed_paths() -> list[str]:
    """Return the paths that an interpreter and its libraries are read from, outermost first.

    The prefix of a virtual environment is not among them: an installed bank lies below it.
    """
    libraries = {
        sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")
    }
    engine = str(Path(__file__).resolve().parents[1])
    executables = {sys.executable, str(Path(sys.executable).resolve())}
    binaries = {str(Path(executable).parent) for executable in executables}
    base = {str(Path(sys.base_prefix) / "lib"), str(Path(sys.prefix) / "pyvenv.cfg")}
    system = {"/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/bin", "/bin", "/usr/local/lib"}
    system |= {"/etc/ld.so.cache", "/etc/localtime", "/sys/devices/system/cpu"}
    every = libraries | {engine} | binaries | base | system
    return sorted(path for path in every if os.path.lexists(path))
