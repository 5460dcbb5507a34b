"""What a `problem.toml` says, validated: a typo in it is an error, never a default."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveInt,
    StrictBool,
    StrictFloat,
    StrictInt,
    ValidationError,
    model_validator,
)

from mha_judge.bank.tables import read_table
from mha_judge.errors import BankError
from mha_judge.sandbox.limits import Limits

IDENTIFIER = r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$"
"""What the id of a problem looks like."""
Identifier = Annotated[str, Field(pattern=IDENTIFIER, max_length=60)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=80)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Role(_Model):
    """One weight map of a module, and where the reference keeps it."""

    name: Name
    """What the candidate's own names are matched against: q, k, v, out, …"""
    reference: str
    """Path of what holds it in the reference: a Linear, a LayerNorm, or a plain parameter."""
    kind: Literal["linear", "norm", "table"] = "linear"
    """A map; the scale and shift of a normalisation; a matrix in an orientation of its own."""
    group: str = ""
    """Tells roles of one name apart: the `self` and the `cross` attention of a block."""
    names: list[str] = []
    """Further names that candidates give it, in lower-case letters only."""
    heads: Name | PositiveInt = 1
    """Over how many heads the map's features are split: a constructor argument, or a number."""
    split: Literal["out", "in"] = "out"
    """Whether the heads divide the map's outputs or its inputs."""
    part: NonNegativeInt = 0
    """Which part of the outputs of the reference's map it is, where that is a fused one."""
    parts: PositiveInt = 1
    """How many equal parts the reference's map has."""

    @property
    def id(self) -> str:
        """The name, apart from those of other groups."""
        return f"{self.group}_{self.name}" if self.group else self.name


class Probe(_Model):
    """One input on which an arrangement of weights is tried."""

    constructor: dict[str, StrictBool | StrictInt | StrictFloat]
    """Sizes with which the layer is made."""
    inputs: list[list[int]]
    """Shape of each tensor argument, in order."""


Size = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\.[A-Za-z_][A-Za-z0-9_]*$")]
"""An argument and one of its letters: `k.S`."""


Axes = Annotated[str, Field(pattern=r"^(#?\w+|\.\.\.)( \w+)*( \| \w+( \w+)*)*$")]
"""Letters, or names of constructor arguments, after `...` for leading ones. `#L` is a number that
is itself the size; `B | B L` is one form or the other."""
Shape = Axes | list[Axes]
"""The axes of a tensor, or of each in a tuple."""


class Domain(_Model):
    """The inputs that an entry is for, beyond those that its grader draws."""

    shapes: dict[Name, Shape]
    """By argument."""
    lengths: dict[Name, Name] = {}
    """By an argument of whole numbers from 1 on, the letter up to which they go."""
    flags: list[Name] = []
    """Masks that hold zeros and ones, in any dtype; an axis of a mask may be 1, or missing."""
    blocking: list[Name] = []
    """Those of them in which a one blocks; in others it opens."""
    boolean: list[Name] = []
    """Those of them that are boolean only."""
    masks: list[Name] = []
    """Others: booleans block where they are True, and floats are added to the scores."""
    long: list[Name] = []
    """Letters that may be thousands."""
    longest: PositiveInt = 5_000
    """How long they are graded at most."""
    grow: list[Name] = []
    """Arguments that are numbers, and grow with the lengths."""
    at_most: dict[Name, Name] = {}
    """By a letter that may be thousands, the one that it does not exceed."""
    even: list[Name] = []
    """Letters that are even."""
    wide: list[Name] = []
    """Letters that are not made small: what a statement tolerates may show in few features."""
    fits: list[Size] = []
    """Sizes that must be those of the other arguments, or of the constructor; all others raise."""
    covers: list[Size] = []
    """Sizes that must not be smaller than the letter elsewhere, or it raises."""
    divides: dict[Name, Name] = {}
    """By a letter or constructor argument, the argument that must divide it, or it raises."""
    gradients: bool = True
    """Whether gradients flow back to its inputs."""
    scores: bool = False
    """Whether it takes a softmax of scores, which may be of any size that is graded."""

    @model_validator(mode="after")
    def _is_of_its_own(self) -> Domain:
        """Refuse letters and arguments that no shape has."""
        letters = {letter for text in self.shapes.values() for letter in axes_of(text)}
        bounds = (*self.at_most, *self.at_most.values())
        for name in (*self.long, *self.even, *self.wide, *self.lengths.values(), *bounds):
            if name not in letters:
                raise ValueError(f"no shape has the letter {name!r}")
        for size in (*self.fits, *self.covers):
            argument, _, letter = size.partition(".")
            if letter not in axes_of(self.shapes.get(argument, "")):
                raise ValueError(f"the shape of {argument!r} has no letter {letter!r}")
        for name in (*self.flags, *self.masks, *self.lengths):
            if name not in self.shapes:
                raise ValueError(f"{name!r} has no shape")
        for name in (*self.blocking, *self.boolean):
            if name not in self.flags:
                raise ValueError(f"{name!r} is none of the flags")
        return self


def axes_of(shape: Shape) -> list[str]:
    """Return the letters of a shape, leading axes left out; of its longest form if it has many."""
    if isinstance(shape, list):
        return [*dict.fromkeys(letter for one in shape for letter in axes_of(one))]
    return max(forms_of(shape), key=len)


def forms_of(axes: Axes) -> list[list[str]]:
    """Return the letters of each form that a tensor may have, leading axes left out."""
    return [
        [axis for axis in form.split() if axis != "..."]
        for form in axes.replace("#", "").split(" | ")
    ]


def is_one_tensor(shape: Shape) -> bool:
    """Return whether an argument is a tensor that has always the same axes."""
    return isinstance(shape, str) and "#" not in shape and "|" not in shape


class Method(_Model):
    """A method of an object that keeps something between calls."""

    name: Name
    arguments: list[Name] = []
    """In the order of the contract."""
    returns: list[Name] = ["output"]
    """Names of what it returns."""
    required_returns: NonNegativeInt = 1
    """How many of these must be there."""


class Entry(_Model):
    """What the judge calls in a candidate's file."""

    name: Name
    """As the contract has it."""
    kind: Literal["function", "module", "object", "answers"]
    """A module's weights are the judge's; an object has methods and keeps a state of its own."""
    aliases: list[Name] = []
    """Other names under which it is found."""
    classes: list[Name] = []
    """Names of classes that serve as a function once they are made."""
    constructor: list[Name] = []
    """Arguments of a module's constructor, in the order of the contract."""
    arguments: list[Name] = []
    """Arguments of the call, in the order of the contract."""
    returns: list[Name] = ["output"]
    """Names of what a call returns; all but the first `required_returns` may be left out."""
    required_returns: int = 1
    """How many of the results must be there."""
    ungraded: list[Name] = []
    """Of these, what the contract leaves open, such as weights that somebody wants to look at."""
    language_models: list[Name] = []
    """Arguments that graders give as a table of logits, and a function as a language model, from
    token ids (N, T) to logits (N, V). The sizes (N, T) of its calls are the first of `returns`,
    before what the function itself returns."""
    arrays: Literal["torch", "numpy", "either", "none"] = "torch"
    """What goes in and comes back: tensors, NumPy arrays, or numbers; `either`: numbers in, one of
    the others out."""
    methods: list[Method] = []
    """What an object is asked to do."""
    roles: list[Role] = []
    """Weight maps in order of definition."""
    probe: Probe | None = None
    """One input on which arrangements of weights are tried."""
    domain: Domain | None = None
    """The inputs that it is for."""

    @model_validator(mode="after")
    def _fits_together(self) -> Entry:
        if self.kind == "module" and (not self.roles or self.probe is None):
            raise ValueError("an entry of kind 'module' needs roles and a probe")
        if (self.kind == "object") != bool(self.methods):
            raise ValueError("an entry has methods if its kind is 'object', and only then")
        for name in self.language_models:
            if (self.kind, self.arrays) != ("function", "torch") or name not in self.arguments:
                raise ValueError(f"language_models: {name!r} is no argument of a torch function")
        for name in self.ungraded:
            if name not in self.returns[self.required_returns :]:
                raise ValueError(f"ungraded: {name!r} is no result that may be left out")
        if self.domain is not None:
            self._domain_is_of(self.domain)
        return self

    def _domain_is_of(self, domain: Domain) -> None:
        """Refuse a domain of arguments that the entry does not have."""
        given = {*self.arguments, *self.constructor}
        letters = {letter for shape in domain.shapes.values() for letter in axes_of(shape)}
        for name in (*domain.shapes, *domain.divides.values(), *domain.grow):
            if name not in given:
                raise ValueError(f"domain: {name!r} is no argument")
        for name in domain.divides:
            if name not in letters | given:
                raise ValueError(f"domain: {name!r} is no size")


class Problem(_Model):
    """One exercise, as its `problem.toml` describes it."""

    id: Identifier
    """The name of its folder."""
    title: str
    title_zh: str = ""
    """The title in Chinese, if it has one."""
    summary: str
    """What is written, in one line."""
    track: str
    """The group in which `list` shows it."""
    level: Annotated[int, Field(ge=1, le=5)]
    """From 1, easiest, to 5."""
    minutes: Annotated[int, Field(ge=1, le=240)]
    """How long it takes to write, from 1 to 240."""
    points: Annotated[int, Field(ge=1, le=100)]
    """What it weighs in a total over several problems."""
    requires: list[Identifier] = []
    """Problems to solve first."""
    after: list[Identifier] = []
    """Problems to go on with."""
    forbid: list[
        Literal["fused-attention", "python-loops", "autograd", "library-norm", "library-loss"]
    ] = []
    """What the policy of this problem rules out."""
    limits: Limits = Limits()
    """What one submission may use."""
    hints: dict[str, str]
    """A hint for each category of check."""
    entry: Annotated[list[Entry], Field(min_length=1)]
    """What the judge calls in a candidate's file."""

    def title_in(self, language: str) -> str:
        return (self.title_zh if language == "zh" else "") or self.title

    @property
    def asks_questions(self) -> bool:
        """Whether it has questions, each of which is marked for itself."""
        return any(entry.kind == "answers" for entry in self.entry)

    @property
    def has_gradients(self) -> bool:
        """Whether inputs may require gradients: not where these are computed by hand, and not
        through a language model, which gives none."""
        models = any(entry.language_models for entry in self.entry)
        return "autograd" not in self.forbid and not models

    def entry_named(self, name: str) -> Entry | None:
        return next((entry for entry in self.entry if entry.name == name), None)


def read_problem(path: Path, problem_id: str) -> Problem:
    """Return the problem that a file describes.

    Raises:
        BankError: If the file is broken; names file, key and remedy.
    """
    try:
        problem = Problem.model_validate(read_table(path))
    except ValidationError as error:
        # a key that is misspelt is unknown under one name, and missing under the other
        first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
        key = ".".join(str(part) for part in first["loc"]) or "(the whole file)"
        remedy = _remedy(first["type"], first["loc"])
        raise BankError(f"{path}: {key}: {first['msg']}; {remedy}") from error
    if problem.id != problem_id:
        raise BankError(
            f"{path}: id: is {problem.id!r}; it must be the folder's name, {problem_id!r}"
        )
    return problem


_TABLES: dict[str, type[BaseModel]] = {
    "entry": Entry,
    "methods": Method,
    "roles": Role,
    "probe": Probe,
    "domain": Domain,
    "limits": Limits,
}


def _remedy(kind: str, place: tuple[int | str, ...]) -> str:
    if kind == "extra_forbidden":
        table = next((str(part) for part in reversed(place[:-1]) if part in _TABLES), "")
        keys = _TABLES.get(table, Problem).model_fields
        near = difflib.get_close_matches(str(place[-1]), keys, n=1)
        return f"did you mean {near[0]!r}?" if near else "remove the key"
    if kind == "missing":
        return "add the key"
    return "correct the value"
