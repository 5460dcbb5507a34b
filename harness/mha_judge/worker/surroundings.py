"""What a supervisor sees around itself: identity, privileges, network, limits, processor.

The judge compares it with what it asked a container engine for: a limit holds because it was seen,
not because it was configured. None stands for what cannot be told here.
"""

import os
from pathlib import Path
from typing import Any

UNLIMITED = 2**62
"""Stands for no limit; control groups of the first version write a number near 2⁶³ for it."""

_CGROUP = Path("/sys/fs/cgroup")
_SECCOMP_FILTER = 2


def surroundings() -> dict[str, Any]:
    """Return the figures by name, as `sandbox.events.Surroundings` describes them."""
    import torch  # not before the supervisor is ready for what it prints

    status = _status()
    capabilities = [int(status[name], 16) for name in ("CapEff", "CapPrm") if name in status]
    return {
        "uid": os.getuid(),
        "capabilities": capabilities[0] | capabilities[-1] if capabilities else None,
        "no_new_privs": status["NoNewPrivs"] == "1" if "NoNewPrivs" in status else None,
        "seccomp": int(status["Seccomp"]) == _SECCOMP_FILTER if "Seccomp" in status else None,
        "read_only_root": _read_only_root(),
        "interfaces": _interfaces(),
        "instruction_set": torch.backends.cpu.get_cpu_capability(),
        **_limits(),
    }


def _status() -> dict[str, str]:
    text = _read(Path("/proc/self/status")) or ""
    pairs = (line.split(":", 1) for line in text.splitlines() if ":" in line)
    return {name: value.strip() for name, value in pairs}


def _read_only_root() -> bool | None:
    mounts = [line.split() for line in (_read(Path("/proc/self/mounts")) or "").splitlines()]
    options = [fields[3].split(",") for fields in mounts if len(fields) > 3 and fields[1] == "/"]
    return "ro" in options[-1] if options else None


def _interfaces() -> list[str] | None:
    text = _read(Path("/proc/net/dev"))
    if text is None:
        return None
    names = [line.split(":", 1)[0].strip() for line in text.splitlines() if ":" in line]
    return [name for name in names if name != "lo"]


def _limits() -> dict[str, float | None]:
    if (_CGROUP / "cgroup.controllers").exists():
        memory, swap = _number("memory.max"), _number("memory.swap.max")
        both = None if memory is None or swap is None else min(memory + swap, UNLIMITED)
        quota, _, period = (_read(_CGROUP / "cpu.max") or "").partition(" ")
    else:
        memory = _number("memory/memory.limit_in_bytes")
        both = _number("memory/memory.memsw.limit_in_bytes")
        quota = _read(_CGROUP / "cpu/cpu.cfs_quota_us") or ""
        period = _read(_CGROUP / "cpu/cpu.cfs_period_us") or ""
    tasks = _number("pids.max")
    return {
        "memory_bytes": memory,
        "swap_bytes": both,
        "tasks": _number("pids/pids.max") if tasks is None else tasks,
        "cpus": _cpus(quota, period),
    }


def _cpus(quota: str, period: str) -> float | None:
    if not quota:
        return None
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() else UNLIMITED


def _number(name: str) -> int | None:
    text = _read(_CGROUP / name)
    if text is None:
        return None
    return min(int(text), UNLIMITED) if text.isdigit() else UNLIMITED


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return None
