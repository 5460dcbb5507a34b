"""No confinement at all: for debugging the engine with your own files."""

from mha_judge.sandbox.base import Channel, Tier
from mha_judge.sandbox.channel import SupervisorChannel
from mha_judge.sandbox.launch import spawn
from mha_judge.sandbox.transport import PipeTransport


class Unconfined:
    """A separate process, and nothing more."""

    name = "none"

    def unavailable(self) -> str | None:
        return None

    def open(self) -> Channel:
        return SupervisorChannel(
            PipeTransport(spawn((), "--unconfined")),
            lambda details, _: Tier("none", "UNSAFE: not confined", details),
        )
