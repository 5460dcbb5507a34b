"""The events that a supervisor may send, as the judge validates them; others are refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from mha_judge.errors import SandboxBroken


class _Event(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: int


class Surroundings(BaseModel):
    """What a supervisor sees around itself; None where it cannot tell."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    uid: int
    capabilities: int | None
    """The union of the effective and the permitted set, one bit each."""
    no_new_privs: bool | None
    seccomp: bool | None
    read_only_root: bool | None
    interfaces: list[str] | None
    """Network interfaces besides the loopback."""
    instruction_set: Annotated[str, Field(max_length=40)]
    """The instruction set of the processor that torch uses."""
    memory_bytes: int | None
    """Limits of the control group; 0 is none."""
    swap_bytes: int | None
    """Memory and swap together."""
    tasks: int | None
    cpus: float | None


class Ready(BaseModel):
    model_config = ConfigDict(extra="forbid")
    event: Literal["ready"]
    pid: int
    surroundings: Surroundings


class Started(_Event):
    event: Literal["started"]
    confinement: dict[str, str | int | bool]


class Refused(_Event):
    event: Literal["refused"]
    what: str
    remedy: str


class Replied(_Event):
    event: Literal["reply"]
    worked_s: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    computed_s: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Ended(_Event):
    event: Literal["ended"]
    worked_s: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    reason: str
    exit_code: int | None = None
    signal: int | None = None
    cpu_s: float = 0.0
    peak_memory_bytes: int = 0
    output: str = ""
    output_bytes: int = 0


Event = Ready | Started | Refused | Replied | Ended

_EVENTS: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="event")])


def parse_event(header: dict[str, Any]) -> Event:
    """Return the event that a frame's header holds.

    Raises:
        SandboxBroken: If the header is no known event.
    """
    try:
        return _EVENTS.validate_python(header)
    except ValidationError as error:
        raise SandboxBroken("the supervisor sent an unknown event") from error
