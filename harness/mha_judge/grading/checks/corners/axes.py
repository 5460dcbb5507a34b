"""The axes on which questions are varied: their values, and which of those may share a row.

A row of the covering array has a value of each axis; one that it leaves out is plain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import torch

from mha_judge.grading.calling.manner import AXES
from mha_judge.grading.checks.corners import masks
from mha_judge.grading.checks.corners.ties import ties_of
from mha_judge.grading.checks.corners.widths import MANY_GROUPS, MANY_HEADS
from mha_judge.grading.covering import Row, Value
from mha_judge.grading.expecting.compare import dtype_name

CASE, TURN, OWN = "case", "turn", "own width"
"""What a row has besides values of axes: which question it asks, a number of its own, and, if its
inputs are as wide as no other row's, which width."""
DROPOUT = "dropout"
"""The constructor argument of a layer that can drop weights in training."""
DTYPES = (torch.float64, torch.bfloat16)
"""Dtypes besides the plain one; float16 does not hold −1e9."""
ITEMS, LENGTHS_APART = ("several", "many"), ("first", "last")
"""Sizes of many items, and those where one length alone is long."""
_WEIGHTS = ("weights", "mean", "map")
"""Axes of the weights that are set before a row is asked."""
BROAD = ("broad", "second broad", "third broad")
"""Which of the widths that a layer is made with is broad, by its place."""
_EQUAL = ("once", "twice", "thrice")
"""As often, at least, each value occurs in rows in which sizes are equal that need not be."""
VALUES: Mapping[str, tuple[str, ...]] = {
    **{axis: tuple(value for value in values if value) for axis, values in AXES.items()},
    "before": (*filter(None, AXES["before"]), "other form"),
    "training": ("yes",),
    "weights": ("anew", "one anew", "unbiased", "identity"),
    "mean": ("far",),
    "object": ("one",),
    "gradient": ("asked", "expanded", "of weights"),
    "dtype": (*map(dtype_name, DTYPES),),
    "size": ("one", "next", *ITEMS, "tens", *LENGTHS_APART),
    "width": BROAD,
    "heads": ("many", "groups", "wide", "single", "one group"),
    "equal": _EQUAL,
    "mask": ("left", "right", "one", "alone", "row", "nearly causal", "unlike", "low"),
    "mask dtype": (*masks.MASK_DTYPES,),
    "scores": ("large", "low", "apart"),
    "values": ("large", "small", "zeros", "repeated", "constant", "nothing"),
}
"""By axis, its values that are not plain."""
ALSO: Mapping[str, tuple[str, ...]] = {
    "before": ("no_grad", "rolled numbers", "other shape", "other lengths"),
    "layout": ("one start", "one memory", "one position", "room"),
    "after": ("many calls",),
    "weights": ("rolled", "one replaced"),
    "map": ("zero", "large", "low scores"),
    "width": ("one",),
    "scores": ("last", "last item", "rising", "rising slowly", "falling", "level", "in the tens"),
    "values": (
        "centred", "zero start", "zero end", "zero item", "one constant", "rising", "falling",
    ),
    "mask": ("zero",),
    "dtype": ("float16",),
}  # fmt: skip
"""Further values, of rows by themselves alone."""
MANNERS = (*AXES, "training")
"""Axes of how a call is made, apart from its arguments."""
ABOUT = (
    *MANNERS, "weights", "object", "inputs", "gradient", "mask dtype", "scores", "mean", "map",
    "mask", "values", "equal", "size", "width", OWN, "heads", "dtype",
)  # fmt: skip
"""All axes; a cause with several is about the one that comes first here."""
_PLAINER = {
    ("gradient", "expanded"): "asked",
    ("gradient", "of weights"): "asked",
    ("after", "many calls"): "calls",
    ("instance", "loaded"): "copy",
    ("before", "no_grad"): "same",
    ("before", "rolled numbers"): "other numbers",
    ("weights", "rolled"): "anew",
    ("instance", "moved"): "copy",
    ("mask", "row"): "alone",
}
"""The value of an axis that is a part of another one: a layer that was moved is a copy, too, and a
mask that leaves a row no key leaves others one."""

_WORDS = {
    ("size", "one"): "at one position",
    ("size", "next"): "at one position more than before",
    ("size", "tens"): "at tens of positions",
    ("size", "first"): "where the first length alone is long",
    ("size", "last"): "where the last length alone is long",
    ("size", "several"): "in a batch of ten or so",
    ("size", "many"): "in a batch of seventy or so",
    ("heads", "many"): f"with {MANY_HEADS} heads",
    ("heads", "groups"): f"with {MANY_GROUPS} groups of heads",
    ("heads", "wide"): "with wide heads",
    ("heads", "single"): "with one head",
    ("heads", "one group"): "with one group of heads",
    ("mask", "left"): "where the first keys are blocked",
    ("mask", "right"): "where the last keys are blocked",
    ("mask", "one"): "where one key is blocked",
    ("mask", "alone"): "where one key alone is open",
    ("mask", "row"): "where a row has no open key",
    ("mask", "nearly causal"): "where a mask is causal but for a key or two",
    ("mask", "unlike"): "where the mask of one row or item is unlike the others",
    ("mask", "low"): "where all of an added mask is far below zero",
    ("scores", "large"): "where scores are large",
    ("scores", "low"): "where every score is very low",
    ("scores", "apart"): "where scores are as far apart as can be",
    ("scores", "last"): "where the scores of the last position alone are large",
    ("scores", "last item"): "where the scores of the last item alone are large",
    ("scores", "rising"): "where scores rise from key to key",
    ("scores", "rising slowly"): "where scores rise slowly from key to key",
    ("scores", "falling"): "where scores fall slowly from key to key",
    ("scores", "in the tens"): "where scores get as large as 20",
    ("scores", "level"): "where all scores are equal, and exp of them nearly overflows",
    ("before", "no_grad"): "after the same call under torch.no_grad()",
    ("before", "rolled numbers"): "after a call in which the same tensors held the same numbers in "
    "another order",
    ("before", "other shape"): "after a call with the same numbers in another shape",
    ("before", "other lengths"): "after a call with other lengths, of the same product",
    ("values", "rising"): "where values rise from key to key",
    ("values", "falling"): "where values fall from key to key",
    ("values", "centred"): "where the numbers of each row sum to zero",
    ("weights", "rolled"): "after weights were set to the same numbers in another order",
    ("map", "low scores"): "where its biases make every score low",
    ("weights", "one replaced"): "after one of its weights was replaced",
    ("values", "zero start"): "where the first positions hold zeros",
    ("values", "zero end"): "where the last positions hold zeros",
    ("values", "zero item"): "where all of an item is zeros",
    ("values", "one constant"): "where all numbers of an input are equal",
    ("layout", "one position"): "on an input whose positions are one, expanded",
    ("mask", "zero"): "where all of an added mask is zero",
    ("map", "zero"): "where one of its weights is zero",
    ("map", "large"): "where one of its weights is large",
    ("width", "one"): "where a width is 1",
    ("after", "many calls"): "once many other calls have followed",
    ("layout", "room"): "on inputs that are the beginning of longer ones",
    ("layout", "one memory"): "on inputs that are views of the same memory",
    ("layout", "one start"): "on inputs that begin at one place in memory",
    ("values", "large"): "where values are large",
    ("values", "small"): "where values are small",
    ("values", "zeros"): "where a position holds zeros",
    ("values", "repeated"): "where two positions hold the same",
    ("values", "constant"): "where all numbers are equal",
    ("values", "nothing"): "where all numbers are zero",
    ("object", "one"): "where two inputs are one object",
    ("gradient", "asked"): "in its gradients",
    ("gradient", "expanded"): "in its gradients, where the one that comes in is expanded",
    ("gradient", "of weights"): "in its gradients, where one comes in through the weights too",
    ("inputs", "looked at"): "in what it leaves of its inputs",
    ("weights", "anew"): "after weights were set anew",
    ("weights", "one anew"): "after one of its weights was set anew",
    ("weights", "unbiased"): "where every bias is zero",
    ("weights", "identity"): "where every square map is the identity",
    ("mean", "far"): "where the mean before a norm is far from zero",
    ("before", "other form"): "after a call with other arguments given or left out",
    ("training", "yes"): "in training, with next to nothing to drop",
    **dict.fromkeys((("width", one) for one in BROAD), "where a width is a thousand or so"),
    **{(axis, value): words for axis, values in AXES.items() for value, words in values.items()},
}
ALONE = {"mask": "alone", "scores": "large"}
_FROZEN_ALONE = {"gradient": "asked", "frozen": "one"}
INPUT_ALONE = {"gradient": "asked", "leaf": "one", "size": "tens"}
_LEARNS_ALONE = {"gradient": "asked", "frozen": "all but one", "leaf": "none"}
OF_A_BIAS = (_FROZEN_ALONE, _LEARNS_ALONE)
OF_A_WEIGHT = (
    {"gradient": "asked", "frozen": "map"},
    _LEARNS_ALONE,
    {"gradient": "asked", "frozen": "all but one"},
)
_ONE_MEMORY = {"layout": "one memory", "gradient": "asked", "leaf": "one"}
OF_AN_INPUT = (
    {"object": "one"},
    {"values": "one constant"},
    {"values": "one constant", "gradient": "asked"},
    {"layout": "one position"},
    _ONE_MEMORY,
    {"gradient": "of weights", "leaf": "one"},
    {"gradient": "of weights", "leaf": "all but one"},
)
"""Rows that each input has which they fit."""
OF_A_ROLE = (
    {"weights": "one replaced", "mode": "no_grad"},
    {"map": "zero", "gradient": "asked", "dtype": "float64"},
    {"map": "large", "gradient": "asked", "dtype": "float64"},
)
"""Rows that each weight has: maps begin as zeros in some models, and a large one takes what comes
after it to its ends. Rounding could matter in float32."""
AFTER_OTHER_WEIGHTS = {"mode": "no_grad", "before": "other weights"}
"""In a row with an odd number one parameter alone held other numbers: what is kept where no graph
is may be looked up by some of them only."""
_ONE_LARGE_SCORE = {"dtype": "bfloat16", "scores": "large", "size": "one"}
"""Its weight is exactly 1, however coarse the rounding is."""
BY_THEMSELVES: Sequence[Row] = (
    _ONE_LARGE_SCORE,
    {**_ONE_LARGE_SCORE, "mode": "no_grad"},
    {"instance": "moved"},
    {"instance": "moved", "heads": "wide", "size": "tens"},
    {"instance": "moved", "dtype": "bfloat16"},
    {"layout": "one start"},
    {"layout": "one start", "mode": "no_grad"},
    {"layout": "room"},
    {"layout": "room", "mode": "no_grad"},
    {"layout": "one memory", "gradient": "asked"},
    {"mask": "zero", "gradient": "asked"},
    {"scores": "last"},
    {"scores": "last item"},
    {"after": "many calls"},
    {"after": "many calls", "mode": "no_grad"},
    {"scores": "level"},
    {"scores": "rising", "size": "tens"},
    {"scores": "rising", "size": "last"},
    {"scores": "rising", "values": "large", "size": "tens"},
    {"scores": "rising slowly", "values": "falling", "size": "tens"},
    {"scores": "falling", "values": "rising", "size": "tens"},
    {"dtype": "float16", "scores": "in the tens"},
    {"before": "no_grad", "gradient": "asked"},
    {"before": "no_grad", "gradient": "asked", "leaf": "none"},
    {"before": "rolled numbers", "mode": "no_grad"},
    {"before": "filled", "size": "one"},
    {"before": "other shape"},
    {"before": "other lengths"},
    {"weights": "rolled", "mode": "no_grad"},
    {"map": "low scores", "size": "tens"},
    {"map": "low scores", "size": "last"},
    {"map": "low scores", "dtype": "float64"},
    {"values": "centred"},
    {"values": "centred", "gradient": "asked"},
    {"values": "zero start"},
    {"values": "zero end"},
    {"values": "zero item"},
    {"values": "zero item", "gradient": "asked"},
    {"values": "zeros", "gradient": "asked", "dtype": "float64"},
    {"size": "one", "gradient": "asked", "dtype": "float64"},
)
"""Rows that one question of each form is asked with, all else being plain."""
OF_EACH_CASE = (
    {"mask": "row", "scores": "large"},
    {"mask": "unlike", "size": "many"},
    {"mode": "no_grad", "equal": _EQUAL[0], "mask": ""},
)
"""Values that each question is asked with: a blocked row may change the number that is used for −∞,
items may be taken in turns with the masks of the first ones, and a mask of two axes for one of
items where there are as many and nothing is recorded. Rows are filled with other pairs, so that
these hardly add any."""
OF_EACH_FORM = (
    {"before": "inference", "gradient": "asked", "size": "tens"},
    {"after": "call", "size": "tens"},
    {"mode": "no_grad", "before": "other numbers", "size": "tens"},
    {"mode": "no_grad", "before": "error", "size": "tens", "heads": "", "object": ""},
    {"before": "other form", "size": "tens", "values": "", "instance": ""},
    {"dtype": "bfloat16", "size": "tens"},
    {"mode": "no_grad", "size": "first", "dtype": ""},
    {"mode": "no_grad", "size": "last", "dtype": ""},
    {"object": "one", "before": "other weights"},
    {"object": "one", "weights": "anew"},
)
"""Values that one question of each form is asked with: a tensor kept from inference mode can be in
no graph, long results may share a buffer, above all where no graph is, a cache may be kept there,
and stay half filled, the next call may take the mask of one that raised, and there may be a faster
way for long inputs or where k is v."""
HARD = (
    {**ALONE, "dtype": "bfloat16"},
    {**ALONE, "dtype": "float64"},
    {**ALONE, "size": "tens"},
    {**ALONE, "training": "yes"},
    {"mask": "left", "size": "tens", "mode": "no_grad"},
    {"mask": "left", "size": "last", "mode": "no_grad"},
    {"gradient": "asked", "leaf": "", "size": "tens", "heads": ""},
    {"gradient": "asked", "leaf": "none", "size": "tens"},
    {"gradient": "asked", "leaf": "one", "size": "tens"},
)
"""Three values that must occur together, for a wrong −∞ in one dtype, say, or whole blocks of keys
that are blocked; every dtype of a mask occurs with `ALONE` too."""
HIDING: Sequence[frozenset[Value]] = (
    frozenset({("heads", "single"), ("heads", "one group")}),
    frozenset({("dtype", "bfloat16"), ("layout", "expanded")}),
    frozenset({
        ("mask", "alone"), ("mask", "row"), ("scores", "large"), ("scores", "low"),
        ("scores", "apart"),
    }),
    frozenset({("size", "one"), ("values", "constant"), ("values", "nothing")}),
)  # fmt: skip
"""Values that hide others, those that hide least first: an axis of 1 may lie anywhere in memory;
rounding is coarse, and rows or items of a mask are alike; a softmax gives 0 or 1 in any case; all
numbers of a result are equal."""
DIVIDED_BY_LITTLE = {
    ("values", "constant"), ("values", "nothing"), ("values", "zeros"), ("values", "zero start"),
    ("values", "zero end"), ("values", "zero item"), ("values", "one constant"),
}  # fmt: skip
"""With these values norms may divide by next to nothing, and gradients then have no bound."""
_GRADIENTS = tuple(("gradient", value) for value in ("asked", "expanded", "of weights"))
_NOT_DIFFERENTIATED: frozenset[Value | str] = frozenset({
        "mode", "scores", "object", ("weights", "anew"), ("weights", "one anew"), "mean",
        ("mask", "alone"), ("mask", "row"), ("size", "one"), ("heads", "single"),
        ("heads", "one group"), ("values", "large"), ("values", "small"), ("values", "constant"),
        ("values", "nothing"),
    })  # fmt: skip
"""With these, keys are blocked or a softmax is 0 or 1, so that gradients are only rounding."""
WITHOUT_EQUAL = frozenset({"size", "heads", "width", "object", "scores"})
"""Axes whose values leave no two sizes to be made equal; where scores are extreme, chance decides
what shows, not equal sizes."""
_APART: Mapping[Value, frozenset[Value | str]] = {
    **dict.fromkeys(_GRADIENTS, _NOT_DIFFERENTIATED),
    ("object", "one"): frozenset({("size", "first"), ("size", "last"), "values", "scores"}),
    ("size", "one"): frozenset({"mask", "scores"}),
    ("size", "many"): frozenset({"heads"}),
    ("mask", "nearly causal"): frozenset({("size", "first"), ("size", "last")}),
    ("dtype", "bfloat16"): frozenset({
        ("values", "large"), ("values", "small"), ("values", "constant"), ("values", "nothing"),
        ("scores", "low"), ("scores", "apart"), ("mask", "low"), "width", "mean",
    }),
    **dict.fromkeys((("width", one) for one in BROAD), frozenset({"size", "heads", "values"})),
    **dict.fromkeys((("equal", one) for one in _EQUAL), WITHOUT_EQUAL),
    ("mean", "far"): frozenset({"weights", "values"}),
    ("values", "large"): frozenset({"scores"}),
    ("values", "small"): frozenset({"scores"}),
    ("values", "zeros"): frozenset({"scores", ("size", "one")}),
    ("values", "repeated"): frozenset({"scores", ("size", "one")}),
    ("values", "constant"): frozenset({"scores"}),
    ("values", "nothing"): frozenset({"scores"}),
}  # fmt: skip
"""By value, what it excludes: single values, or all values of an axis but the plain one."""


def excluded(has_norms: bool) -> Mapping[Value, frozenset[Value | str]]:
    """Return by value what may not share a row with it: values, or axes but for their plain one.

    Args:
        has_norms: Whether the entry is a layer with norms.
    """
    if not has_norms:
        return _APART
    return {**_APART, **dict.fromkeys(_GRADIENTS, _NOT_DIFFERENTIATED | DIVIDED_BY_LITTLE)}


def sets_weights(row: Row) -> bool:
    """Return whether a layer has other weights from a row on, or for the row."""
    return not row.keys().isdisjoint(_WEIGHTS)


def sets_them_for_itself(row: Row) -> bool:
    """Return whether a layer has weights for this row only."""
    return sets_weights(row) and row.get("weights") in (None, "unbiased", "identity")


def is_told_by_some(row: Row) -> bool:
    """Return whether only some of a row's numbers show that an answer is wrong.

    Some scores are lower than a number used for −∞, others are not. So there are more items, or the
    row is asked more than once; and as no scores nearly tie, one wrong result is enough.
    """
    return row.get("mask") == "alone" and bool(row.get("scores"))


def plainer(row: Row, axis: str) -> Iterator[Row]:
    """Yield a row with a plainer value of an axis, and with the plain one.

    There is none where a weight was replaced: what the layer kept is wrong from then on.
    """
    if row[axis] == "one replaced":
        return
    if axis == "equal" and len(ties := ties_of(row[axis])) > 1:
        yield from ({**row, axis: str(one)} for one in ties)
    part = _PLAINER.get((axis, row[axis]))
    if part is not None:
        yield {**row, axis: part}
    yield {one: value for one, value in row.items() if one != axis}


def in_words(cause: Row) -> str:
    """Return the values of a row in the words of a report; empty if all are plain."""
    values = [(axis, cause[axis]) for axis in ABOUT if cause.get(axis)]
    return ", ".join(_WORDS.get(one) or _words_of(*one) for one in values)


def _words_of(axis: str, value: str) -> str:
    if axis == OWN:
        return "where widths are larger"
    if axis == "equal":
        return "where " + " and ".join(f"{one} = {other}" for one, other in ties_of(value))
    return {"dtype": f"in {value}", "mask dtype": f"where a mask is {value}"}[axis]
