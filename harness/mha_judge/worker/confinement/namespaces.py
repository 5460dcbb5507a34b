"""A worker's own namespaces, an addition where root may have them.

An ordinary user would need a user namespace, which changes what uids mean and which many systems
refuse; under bubblewrap the supervisor is in fresh namespaces already. seccomp denies every system
call these namespaces would separate, so nothing depends on them.
"""

from . import kernel

_CAP_SYS_ADMIN = 21
_WANTED = {
    "ipc": kernel.CLONE_NEWIPC,
    "net": kernel.CLONE_NEWNET,
    "uts": kernel.CLONE_NEWUTS,
}


def separate(capabilities: int) -> str:
    """Enter new namespaces if the kernel lets us; return their names, or `none`."""
    if not capabilities & 1 << _CAP_SYS_ADMIN:
        return "none"
    try:
        kernel.unshare(sum(_WANTED.values()))
    except OSError:
        return "none"
    return " ".join(_WANTED)
