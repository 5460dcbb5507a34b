"""Who asks: a token stands for a role, and a role for what may be seen and done."""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from mha_judge.errors import UsageError

_SHORTEST = 16


class Role(StrEnum):
    """What a token allows."""

    CANDIDATE = "candidate"
    """Grade answers; see of a report what candidates may see."""
    INTERVIEWER = "interviewer"
    """See everything, the metrics too."""


@dataclass(frozen=True)
class Asker:
    """Whose token a request has."""

    role: Role
    name: str
    """The same for the same token, and no hint at it."""


@dataclass(frozen=True)
class Tokens:
    """The tokens of a server; without any, everyone who reaches it is an interviewer."""

    roles: dict[bytes, Role]

    @classmethod
    def read(cls, path: Path) -> Tokens:
        """Read lines of a role and a token, such as `candidate 3f0c…`.

        Raises:
            UsageError: The file cannot be read, others can read it, or a line is none of these.
        """
        try:
            mode = path.stat().st_mode
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path}: cannot be read ({error}); check the path") from error
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise UsageError(f"{path}: others can read it; run `chmod 600 {path}`")
        if stat.S_ISREG(mode) and path.stat().st_uid != os.geteuid():
            raise UsageError(f"{path}: it is another user's; make one of your own")
        roles = {}
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if len(words) != 2 or words[0] not in [*Role] or len(words[1]) < _SHORTEST:
                raise UsageError(
                    f"{path}, line {number}: write a role ({' or '.join(Role)}) and a token of "
                    f"{_SHORTEST} characters or more"
                )
            roles[words[1].encode()] = Role(words[0])
        if not roles:
            raise UsageError(f"{path}: there is no token in it; write `interviewer TOKEN`")
        return cls(roles)

    def asker(self, authorization: str | None) -> Asker | None:
        """Return who sent a request's `Authorization`; None if it is nobody's.

        Every token is compared, each in constant time.
        """
        if not self.roles:
            return Asker(Role.INTERVIEWER, "")
        scheme, _, given = (authorization or "").partition(" ")
        found = None
        for token, role in self.roles.items():
            if hmac.compare_digest(token, given.strip().encode()) and scheme.lower() == "bearer":
                found = Asker(role, hashlib.sha256(token).hexdigest())
        return found
