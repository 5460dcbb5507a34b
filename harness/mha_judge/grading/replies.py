"""What a worker may answer to each request, validated before anything else looks at it.

Whatever does not fit is the submission's doing, never the judge's fault: `Crashed`.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator
from torch import Tensor

from mha_judge.grading.arguments import Parameter
from mha_judge.grading.failures import Crashed

Text = Annotated[str, Field(max_length=200)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
Counts = Annotated[dict[Text, Count], Field(max_length=500)]
Place = Annotated[int, Field(ge=0, le=10**6)]


class _Reply(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, arbitrary_types_allowed=True
    )


class Definition(_Reply):
    """Something that the candidate's file defines."""

    kind: Text
    own: bool
    constructor: Annotated[list[Parameter], Field(max_length=100)] | None = None
    call: Annotated[list[Parameter], Field(max_length=100)] | None = None
    module: bool = False
    methods: Annotated[
        dict[Text, Annotated[list[Parameter], Field(max_length=100)] | None], Field(max_length=100)
    ] = {}
    type: Text = ""


class ParameterInfo(_Reply):
    """One parameter of an instance, or plain array, at one path."""

    path: Text
    shape: Annotated[list[Annotated[int, Field(ge=0, le=2**31)]], Field(max_length=8)] | None
    """None while it is lazy."""
    owner: Text
    """The class of torch that holds it, or empty."""
    start: Literal["ones", "zeros"] | None = None
    """What a vector holds when it is made, where that is one of these throughout."""
    bare: bool = False
    """Whether it is an attribute of an ordinary instance that holds no such array, or not yet."""
    number: Place | None = None
    """The same for every path to one plain array; None of a parameter of torch."""

    @property
    def plain(self) -> bool:
        """Whether it is a tensor or array that no module of torch trains."""
        return self.number is not None

    @field_validator("shape")
    @classmethod
    def _within_reason(cls, shape: list[int] | None) -> list[int] | None:
        if shape is not None and math.prod(shape) > 2**40:
            raise ValueError("more numbers than memory holds")
        return shape


class Observed(_Reply):
    """What a call did, as the worker tells it: evidence, not proof."""

    functions: Counts
    operators: Counts
    modules: Counts
    flops: Count
    largest_elements: Count
    written_elements: Count
    followed: Count = 0
    host_elements: Count = 0


class Note(_Reply):
    """Something that the submission was noted to make use of, as the worker tells it."""

    rule: Literal["fused-attention", "autograd"]
    name: Text
    line: Place | None


class Gradients(_Reply):
    """Gradients by name, None where nothing depends on the input."""

    inputs: dict[str, Tensor | None]
    parameters: dict[str, Tensor | None]


class Loaded(_Reply):
    definitions: Annotated[dict[Text, Definition], Field(max_length=500)]


class Made(_Reply):
    handle: Place
    parameters: Annotated[list[ParameterInfo], Field(max_length=2_000)]


class Listed(_Reply):
    parameters: Annotated[list[ParameterInfo], Field(max_length=2_000)]


class Done(_Reply):
    pass


class Value(_Reply):
    value: Any


class Called(_Reply):
    """The value of a call, and what else was asked for."""

    value: Any
    gradients: Gradients | None = None
    inputs: tuple[list[Any] | tuple[Any, ...], dict[str, Any]] | None = None
    observed: Observed | None = None
    devices: Annotated[list[Text], Field(max_length=10_000)] | None = None
    """Where the tensors of the answer are, if that alone was asked."""
    peak_bytes: Count | None = None
    """What the call allocated on the device at once, beyond its inputs."""


class Facts(_Reply):
    """The GPU that a worker has taken."""

    name: Text
    memory_bytes: Count
    free_bytes: Count
    cuda: Text


class RaisedThere(_Reply):
    """An exception of the submission's."""

    type: Text
    message: Annotated[str, Field(max_length=20_000)]
    line: Place | None = None
    column: Place | None = None
    function: Text | None = None
    source: Annotated[str, Field(max_length=2_000)] | None = None


_MODELS: dict[str, type[_Reply]] = {
    "load": Loaded,
    "read": Value,
    "new": Made,
    "parameters": Listed,
    "set_parameters": Done,
    "mode": Done,
    "call": Called,
    "fetch": Value,
    "device": Facts,
    "hold": Done,
    "shake": Done,
    "repeat": Value,
}


def parse_reply(op: str, fields: dict[str, Any]) -> Any:
    """Return the model of a request's answer; tensors in it are unpacked already.

    Raises:
        Crashed: If the fields are not those of such an answer.
    """
    try:
        return _MODELS[op].model_validate(fields)
    except ValidationError as error:
        raise Crashed("the worker's answer cannot be read") from error


_NOTES: TypeAdapter[list[Note]] = TypeAdapter(Annotated[list[Note], Field(max_length=50)])


def parse_notes(fields: object) -> list[Note]:
    """Return what a worker noted.

    Raises:
        Crashed: If it is none.
    """
    try:
        return _NOTES.validate_python(fields)
    except ValidationError as error:
        raise Crashed("the worker's notes cannot be read") from error


def parse_raised(fields: object) -> RaisedThere:
    """Return an exception of the submission's; what cannot be read is an exception all the same."""
    try:
        return RaisedThere.model_validate(fields)
    except ValidationError:
        return RaisedThere(type="Exception", message="(an error that cannot be read)")
