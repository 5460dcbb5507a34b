"""Who the worker is: nobody in particular, and without any capability."""

import os
import secrets
from contextlib import suppress

from . import kernel, paths

_CAP_SETGID, _CAP_SETUID = 6, 7
_LAST_CAPABILITY = 63

# Pairs of lock and value: no-cap-ambient-raise, keep-caps off, no-setuid-fixup off, noroot.
_SECUREBITS = 0b11_10_10_11

# First a range that no convention assigns, so large that no two workers get the same id; a user
# namespace may map only the low range.
_SPARE_IDS = (range(0x70000000, 0x7FFFFFFE), range(60001, 65000))


def become_nobody(capabilities: int) -> bool:
    """Change to a spare uid and gid, and return whether that was done.

    Not done without the capabilities for it. Not done either if a stranger cannot read the
    interpreter (a virtual environment below a private home), as late imports would fail.
    """
    needed = 1 << _CAP_SETGID | 1 << _CAP_SETUID
    if capabilities & needed != needed or not paths.readable_to_strangers():
        return False
    return any(_change_to(ids.start + secrets.randbelow(len(ids))) for ids in _SPARE_IDS)


def _change_to(spare: int) -> bool:
    try:
        os.setgroups([])
        os.setresgid(spare, spare, spare)
        os.setresuid(spare, spare, spare)
    except OSError:  # the user namespace maps no such id
        return False
    return True


def forbid_regaining_capabilities() -> None:
    """Empty the bounding and ambient sets and lock the secure bits, where that is allowed.

    An addition: no_new_privs and the missing exec leave no way to regain a capability anyway.
    """
    with suppress(OSError):  # not privileged, or past the last capability this kernel knows
        for capability in range(_LAST_CAPABILITY + 1):
            kernel.prctl(kernel.PR_CAPBSET_DROP, capability)
    for option, argument in (
        (kernel.PR_CAP_AMBIENT, kernel.PR_CAP_AMBIENT_CLEAR_ALL),
        (kernel.PR_SET_SECUREBITS, _SECUREBITS),
    ):
        with suppress(OSError):
            kernel.prctl(option, argument)
