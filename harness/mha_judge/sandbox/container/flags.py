"""The flags of a container: no network, no mounts, no rights, bounded in everything."""

from __future__ import annotations

from typing import Any

from mha_judge.sandbox import launch
from mha_judge.sandbox.container.owner import LABEL, Owner
from mha_judge.sandbox.container.settings import Settings

USER = "65534:65534"
LEASE_S = 60
"""Seconds without a word from the judge after which a supervisor ends by itself."""

_OPEN_FILES = 1024
_TASKS_OF_THE_USER = 8192
"""The kernel counts tasks by uid, over all containers; `pids_limit` is the exact limit."""


def creation(engine: Any, image: str, settings: Settings) -> dict[str, Any]:
    """Return the arguments with which the engine makes a container."""
    return {
        "image": image,
        "command": command(settings),
        "user": USER,
        "environment": {k: v for k, v in launch.environment().items() if k != "PATH"},
        "working_dir": "/",
        "stdin_open": True,
        "labels": {LABEL: str(Owner.current())},
        "host_config": engine.create_host_config(**host(settings)),
    }


def command(settings: Settings) -> list[str]:
    """Return what runs in the container."""
    options = [f"--lease-s={LEASE_S}"]
    if _has_own_kernel(settings):
        options.append("--may-lack-landlock")
    return ["python", *launch.ARGUMENTS, *options]


def _has_own_kernel(settings: Settings) -> bool:
    """Return whether the runtime has a kernel of its own, such as gVisor's, without Landlock."""
    return settings.runtime not in (None, "runc", "crun")


def host(settings: Settings) -> dict[str, Any]:
    """Return the part of the arguments that confines."""
    from docker.types import DeviceRequest, LogConfig, Ulimit

    def limit(name: str, value: int) -> Any:
        return Ulimit(name=name, soft=value, hard=value)

    gpus = {}
    if settings.gpus:  # only the parts of the driver that computing needs
        wanted = [["compute", "utility"]]
        gpus["device_requests"] = [
            DeviceRequest(device_ids=list(settings.gpus), capabilities=wanted)
        ]
    return {
        "network_mode": "none",
        "ipc_mode": "none",
        "cgroupns": "private",
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
        "read_only": True,
        "tmpfs": {
            "/tmp": f"rw,nosuid,nodev,noexec,mode=1777,nr_inodes=4096,size={settings.scratch_bytes}"
        },
        "mem_limit": settings.memory_bytes,
        "memswap_limit": settings.memory_bytes,
        "nano_cpus": int(settings.cpus * 1e9),
        "pids_limit": settings.tasks,
        "ulimits": [
            limit("core", 0),
            limit("fsize", settings.scratch_bytes),
            limit("memlock", 0),
            limit("nofile", _OPEN_FILES),
            limit("nproc", _TASKS_OF_THE_USER),
        ],
        "oom_score_adj": 500,
        # no log beside the attached stream: a flood must not fill the host's disk
        "log_config": LogConfig(type="none"),
        # reaps what the supervisor leaves; without Landlock a worker could write into its memory
        "init": not _has_own_kernel(settings),
        "auto_remove": True,
        "runtime": settings.runtime,
        **gpus,
    }
