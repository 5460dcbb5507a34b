"""What a worker may answer to each request, validated before anything else looks at it.

Whatever does not fit is the submission's doing, never the judge's fault: `Crashed`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError
from torch import Tensor

from mha_judge.grading.binding.described import Definition, Described, ParameterInfo, Place, Text
from mha_judge.grading.failures import Crashed
from mha_judge.submission import MAX_BYTES
from mha_judge.wire.bounds import MAX_COMPARED, MAX_NAMES, MAX_PARAMETERS
from mha_judge.wire.operations import Operation

Count = Annotated[int, Field(ge=0, lt=2**63)]
Counts = Annotated[dict[Text, Count], Field(max_length=MAX_NAMES)]


class Observed(Described):
    """What a call did, as the worker tells it: evidence, not proof."""

    functions: Counts
    operators: Counts
    modules: Counts
    flops: Count
    largest_elements: Count
    written_elements: Count
    followed: Count = 0
    host_elements: Count = 0


class Note(Described):
    """Something that the submission used, as the worker tells it."""

    rule: Literal["fused-attention", "autograd"]
    name: Text
    line: Place | None


class Gradients(Described):
    """Gradients by name, None where no output depends on the input."""

    inputs: dict[str, Tensor | None]
    parameters: dict[str, Tensor | None]


class Loaded(Described):
    definitions: Annotated[dict[Text, Definition], Field(max_length=MAX_NAMES)]


class Made(Described):
    handle: Place
    parameters: Annotated[list[ParameterInfo], Field(max_length=MAX_PARAMETERS)]


class Listed(Described):
    parameters: Annotated[list[ParameterInfo], Field(max_length=MAX_PARAMETERS)]


class Done(Described):
    pass


class Value(Described):
    value: Any


class Overwritten(Described):
    any: bool


class Called(Described):
    """The value of a call, and what else was asked for."""

    value: Any
    gradients: Gradients | None = None
    inputs: tuple[list[Any] | tuple[Any, ...], dict[str, Any]] | None = None
    written: Annotated[list[Place], Field(max_length=MAX_NAMES)] | None = None
    """Which of its inputs a watched call has written to, as the worker counts them."""
    observed: Observed | None = None
    compared: Annotated[list[Any], Field(max_length=MAX_COMPARED)] = Field(default_factory=list)
    """What a call compares sizes with, as `wire.formulas` describes it, if that was asked."""
    devices: Annotated[list[Text], Field(max_length=10_000)] | None = None
    """The devices of the result's tensors, if only these were asked for."""
    peak_bytes: Count | None = None
    """The peak of what the call allocated on the device, beyond its inputs."""

    def what_it_did(self) -> Observed:
        """Return what was seen of an observed call, or of its backward pass.

        Raises:
            Crashed: The worker sent no observation.
        """
        if self.observed is None:
            raise Crashed("the worker's answer lacks the observation")
        return self.observed


class Facts(Described):
    """The GPU that a worker has taken."""

    name: Text
    memory_bytes: Count
    free_bytes: Count
    cuda: Text


class RaisedThere(Described):
    """An exception that the submission raised."""

    type: Text
    message: Annotated[str, Field(max_length=20_000)]
    line: Place | None = None
    column: Place | None = None
    called_from: Place | None = None
    """The line of the module itself, outside any function, that led there."""
    source: Annotated[str, Field(max_length=2_000)] | None = None


_MODELS: dict[Operation, type[Described]] = {
    Operation.LOAD: Loaded,
    Operation.READ: Value,
    Operation.NEW: Made,
    Operation.PARAMETERS: Listed,
    Operation.SET_PARAMETERS: Done,
    Operation.MODE: Done,
    Operation.CALL: Called,
    Operation.FETCH: Value,
    Operation.OVERWRITTEN: Overwritten,
    Operation.DEVICE: Facts,
    Operation.HOLD: Done,
    Operation.SHAKE: Done,
    Operation.REPEAT: Value,
}


def parse_reply(op: Operation, fields: dict[str, Any]) -> Any:
    """Return the model of a request's answer; tensors in it are unpacked already.

    Raises:
        Crashed: If the fields are not those of such an answer.
    """
    try:
        return _MODELS[op].model_validate(fields)
    except ValidationError as error:
        raise Crashed("the worker's answer cannot be read") from error


_Told = TypeVar("_Told")
_NOTES: TypeAdapter[list[Note]] = TypeAdapter(Annotated[list[Note], Field(max_length=50)])


def parse_notes(fields: object) -> list[Note]:
    """Return what a worker noted.

    Raises:
        Crashed: If it cannot be read.
    """
    return _told(_NOTES, fields)


_REACHED: TypeAdapter[list[int]] = TypeAdapter(
    Annotated[list[Annotated[int, Field(ge=0, lt=MAX_BYTES)]], Field(max_length=MAX_BYTES)]
)


def parse_reached(fields: object) -> list[int]:
    """Return the blocks that a worker says were reached, by number.

    Raises:
        Crashed: If it cannot be read.
    """
    return _told(_REACHED, fields)


def _told(adapter: TypeAdapter[_Told], fields: object) -> _Told:
    """Return what a worker sends along with an answer; raise `Crashed` if it cannot be read."""
    try:
        return adapter.validate_python(fields)
    except ValidationError as error:
        raise Crashed("what the worker noted cannot be read") from error


def parse_raised(fields: object) -> RaisedThere:
    """Return the submission's exception; one that cannot be read is replaced by another."""
    try:
        return RaisedThere.model_validate(fields)
    except ValidationError:
        return RaisedThere(type="Exception", message="(an error that cannot be read)")
