"""What a worker says of a file's definitions and of an instance's parameters, within bounds."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from mha_judge.wire.bounds import MAX_METHODS

Text = Annotated[str, Field(max_length=200)]
Place = Annotated[int, Field(ge=0, le=10**6)]


class Described(BaseModel):
    """Something that a worker says; what does not fit is refused."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, arbitrary_types_allowed=True
    )


class Parameter(Described):
    """One parameter of a candidate's function."""

    name: Annotated[str, Field(max_length=100)]
    kind: Annotated[str, Field(max_length=40)]
    required: bool


_Signature = Annotated[list[Parameter], Field(max_length=100)]


class Definition(Described):
    """Something that the candidate's file defines."""

    kind: Text
    own: bool
    constructor: _Signature | None = None
    call: _Signature | None = None
    module: bool = False
    methods: Annotated[dict[Text, _Signature | None], Field(max_length=MAX_METHODS)] = {}
    type: Text = ""


class ParameterInfo(Described):
    """One parameter of an instance, or plain array, at one path."""

    path: Text
    shape: Annotated[list[Annotated[int, Field(ge=0, le=2**31)]], Field(max_length=8)] | None
    """None while it is lazy."""
    owner: Text
    """The class of torch that holds it, or empty."""
    start: Literal["ones", "zeros"] | None = None
    """What a new vector holds, if it holds only ones or only zeros."""
    bare: bool = False
    """Whether it is an attribute of an ordinary instance that holds no array, or none yet."""
    number: Place | None = None
    """The same for every path to one plain array; None for a parameter of torch."""

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
