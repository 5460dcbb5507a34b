"""What a worker may read: the interpreter's libraries, and nothing that could hold a grader."""

import os
import sys
import sysconfig
from functools import cache
from pathlib import Path

_PACKAGE_FOLDERS = {"site-packages", "dist-packages", "lib-dynload"}
_SYSTEM = (
    "/usr/lib",
    "/usr/lib64",
    "/lib",
    "/lib64",
    "/usr/local/lib",
    f"{sys.base_prefix}/lib",  # conda keeps MKL there, loaded at the first product
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/usr/share/zoneinfo",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/sys/devices/system/cpu",
    "/dev/urandom",
    "/dev/zero",
)
READ_WRITE = (Path("/dev/null"),)
OWN_THREADS = Path("/proc/self/task")
"""Where CUDA writes the names of its threads; it gives up if it may not."""
_GPU = ("/proc/driver/nvidia", "/proc/devices", "/proc/modules", "/proc/sys/vm/mmap_min_addr",
        "/proc/self", "/sys/bus/pci/devices", "/sys/devices/system", "/sys/module/nvidia",
        "/sys/module/nvidia_uvm", "/etc/nvidia")  # fmt: skip


def gpu_devices() -> tuple[Path, ...]:
    """Return the nodes through which NVIDIA's driver is reached, those that exist."""
    return tuple(path for path in sorted(Path("/dev").glob("nvidia*")) if not path.is_dir())


def gpu_readable() -> tuple[Path, ...]:
    """Return what the driver's library reads besides what every worker may read."""
    cards = Path("/sys/devices").glob("pci*")
    return tuple(path for path in (*map(Path, _GPU), *sorted(cards)) if path.exists())


@cache
def readable() -> tuple[Path, ...]:
    """Return the folders and files a worker may read, those that exist."""
    roots = (*interpreter_folders(), *(Path(path).resolve() for path in _SYSTEM))
    return tuple(root for root in dict.fromkeys(roots) if root.exists() and not _holds_a_bank(root))


@cache
def interpreter_folders() -> tuple[Path, ...]:
    """Return the standard library and the site-packages of this interpreter.

    Not `sys.prefix`, as graders lie below its `share`, and no other entry of `sys.path`: an
    editable install or PYTHONPATH puts a source tree there, graders included.
    """
    own = [Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")]
    on_path = [Path(entry) for entry in sys.path if Path(entry).name in _PACKAGE_FOLDERS]
    found = (Path(os.__file__).parent, *own, *on_path)
    return tuple(dict.fromkeys(folder.resolve() for folder in found if folder.is_dir()))


@cache
def readable_to_strangers() -> bool:
    """Whether a uid that owns nothing could import from the interpreter's folders.

    Looks at every folder on the way and at what lies directly in each, which shows an
    installation below a private home or made under umask 077.
    """
    return all(_open_to_strangers(folder) for folder in interpreter_folders())


def _open_to_strangers(folder: Path) -> bool:
    if not all(parent.stat().st_mode & 0o001 for parent in folder.parents):
        return False
    return _grants(folder) and all(map(_grants, folder.iterdir()))


def _grants(path: Path) -> bool:
    if path.is_symlink():
        return True  # leads elsewhere, perhaps nowhere
    needed = 0o005 if path.is_dir() else 0o004
    return path.stat().st_mode & needed == needed


def _holds_a_bank(root: Path) -> bool:
    return all((root / name).is_dir() for name in ("graders", "problems"))
