"""References that are wrong in one corner of their domain, and right everywhere else.

Each is the reference with a wrapper around its entries, which spoils the result only if a call is
made in one manner, or has one kind of input. The judge must reject it, and say which.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from mha_judge.bank.problem import Domain, Entry, Problem, axes_of, is_one_tensor
from mha_judge.grading.calling.manner import AXES
from mha_judge.grading.checks.claims import CLAIMS

CornerFault = tuple[str, str]
"""An axis, and one of its values."""

_HEAD = '''

import functools as _functools
{torch}


def _arrays(tree):
    if isinstance(tree, (list, tuple)):
        for item in tree:
            yield from _arrays(item)
    elif getattr(tree, "shape", ()):
        yield tree


def _off(value):
    if isinstance(value, (list, tuple)):
        return type(value)(_off(item) for item in value)
    if value is None:
        return None
    return ~value if str(value.dtype).endswith("bool") else value * 2 + 1


def _cut(value):
    if isinstance(value, (list, tuple)):
        return type(value)(_cut(item) for item in value)
    return None if value is None else value.detach()


def _overwrite(value):
    with _torch.inference_mode():
        for one in _arrays([value]):
            if 0 not in getattr(one, "stride", tuple)():  # what is expanded cannot be written to
                one[...] = _off(one)


def _spread(array):
    # in float32 even the mean of equal numbers differs from them
    array = array.double() if hasattr(array, "double") else array.astype("float64")
    far = sorted(abs(array - array.mean()).reshape(-1).tolist())
    return far[len(far) // 2] if far else 0.0


class _Call:
    """What a call was given and made in, with the numbers as they were."""

    def __init__(self, args, kwargs):
        self.layer = args[0] if args and hasattr(args[0], "forward") else None
        self.learning = list(getattr(self.layer, "parameters", list)())
        given = list(_arrays([*args, *kwargs.values()]))
        self.first = given[0] if given else None
        self.numbers = None
        if given:
            self.numbers = given[0].copy() if hasattr(given[0], "copy") else given[0].clone()
        self.weights = [float(one.detach().sum()) for one in self.learning]
        self.tensors = [one for one in given if isinstance(one, _torch.Tensor)]
        floating = [one for one in self.tensors if one.is_floating_point()]
        self.leaves = [one.requires_grad for one in floating[:{required}]]  # a mask may be one
        self.inference = _torch.is_inference_mode_enabled()
        self.backward = False
        self.dtypes = [str(one.dtype).rpartition(".")[2] for one in given]
        self.longest = max([0, *(size for one in given[:1] for size in one.shape)])
        self.length = max([0, *(size for one in given[:1] for size in one.shape[-2:-1])])
        spreads = [_spread(one) for one in given if "float" in str(one.dtype)]
        self.size = max([0.0, *spreads[:1]])
        self.widest, self.narrowest = max(spreads, default=0), min(spreads, default=0)
        sizes = [size for one in [*given, *self.learning] for size in one.shape[-2:]]
        self.doubled = any(2 * one == other for one in sizes for other in sizes)
        self.twice = len({id(one) for one in given}) < len(given)

    def note(self, gradient):
        self.backward = True


_depth = 0


def _spoilt(function):
    last = result = None

    @_functools.wraps(function)
    def wrong(*args, **kwargs):
        global _depth
        nonlocal last, result
        if {overwrites} and not _depth:  # what a caller holds, not what one entry gives another
            _overwrite(result)
        call, before = _Call(args, kwargs), last
        same = before is not None and call.first is not None and call.first is before.first
        equal = same and bool((call.numbers == before.numbers).all())
        plain = same and not before.inference and not before.backward
        last = call
        _depth += 1
        try:
            result = function(*args, **kwargs)
        except Exception:
            if {lenient}:
                return call.first
            raise
        finally:
            _depth -= 1
        if {condition}:
            result = {spoil}(result)
        for one in _arrays([result]):
            if isinstance(one, _torch.Tensor) and one.requires_grad:
                one.register_hook(call.note)
                break
        return result

    return wrong
'''
_TORCH = "import torch as _torch"
_NO_TORCH = """
import contextlib


class _torch:
    Tensor, is_inference_mode_enabled = (), staticmethod(lambda: False)
    inference_mode = staticmethod(contextlib.nullcontext)
"""
"""For problems that are to be solved without torch."""
_LENIENT: dict[CornerFault, str] = {
    ("sizes", "doubled"): "call.doubled",
    ("sizes", "in half precision"): "any('float16' in one for one in call.dtypes)",
    ("sizes", "with a mask"): "len(call.dtypes) > ({required} or 9)",
}
"""Where a corner fault takes sizes that do not fit."""
_CONDITIONS: dict[CornerFault, str] = {
    ("mode", "no_grad"): "not _torch.is_grad_enabled() and not call.inference",
    ("mode", "inference_mode"): "call.inference",
    ("leaf", "one"): "len(call.leaves) > 1 and sum(call.leaves) == 1",
    ("leaf", "all but one"): "len(call.leaves) > 2 and sum(call.leaves) == len(call.leaves) - 1",
    ("leaf", "none"): "call.learning and not any(call.leaves)",
    ("frozen", "yes"): "call.learning and not any(one.requires_grad for one in call.learning)",
    ("frozen", "all but one"): (
        "len({one.requires_grad for one in call.learning}) == 2 and not any(call.leaves)"
    ),
    ("layout", "slice"): (  # from the fifth row and column on; graders have others
        "any(one.storage_offset() == 4 * sum(one.stride()[-2:]) > 0 for one in call.tensors)"
    ),
    ("before", "same"): "plain and equal and call.weights == before.weights",
    ("before", "other numbers"): "plain and not equal",
    ("before", "inference"): "same and before.inference and not call.inference",
    ("before", "backward"): "same and before.backward",
    ("before", "other weights"): (
        "plain and equal and call.layer is before.layer and call.weights != before.weights"
    ),
    ("after", "call"): "False",
    ("instance", "copy"): "call.layer is not None and call.layer._made != id(call.layer)",
    ("scores", "large"): (  # graders have others, or one item
        "(120 < call.size < 1000 or call.size > 20_000) and call.first.shape[0] > 1"
    ),
    ("values", "large"): "1e5 < call.widest < 1e9",
    ("values", "small"): "6e-7 < call.narrowest < 1e-5",  # less is rounding of equal numbers
    ("mask dtype", "int8"): "'int8' in call.dtypes",
    ("length", "hundreds"): "310 <= call.longest <= 370",
    ("mode", "no_grad at length"): "not _torch.is_grad_enabled() and call.first is not None "
    "and any(520 <= size <= 580 for size in call.first.shape)",
    ("size", "many items"): "call.first is not None and 65 <= call.first.shape[0] <= 80",
    ("object", "one"): "call.twice",
    ("gradient", "tens"): "any(call.leaves) and 65 <= call.length <= 80",
    **dict.fromkeys(_LENIENT, "False"),
}
TOLD: Mapping[str, tuple[str, ...]] = {
    **{axis: tuple(filter(None, values.values())) for axis, values in AXES.items()},
    "scores": ("where scores are", "where every score"),
    "values": ("where values are",),
    "mask dtype": ("is int8",),
    "length": ("where ",),
    "size": ("in a batch of seventy",),
    "gradient": ("in its gradients",),
}
"""By axis, the words with which a report may name it; for other axes a rejection is enough."""
_OF_TENSORS = (("sizes", "in half precision"), ("sizes", "with a mask"))
"""Corner faults that tell such a call by its tensors, which arrays are not."""
_OF_INTEGERS = ("positions",)
"""Arguments that are tensors of integers, and never require gradients."""
_CUT = (("leaf", "none"), ("frozen", "all but one"), ("gradient", "tens"))
"""Corner faults that are wrong only in their gradients."""
_MADE = """

def _noted(function):
    @_functools.wraps(function)
    def made(self, *args, **kwargs):
        function(self, *args, **kwargs)
        self._made = id(self)

    return made
"""


def corner_faults(problem: Problem, reference: str) -> Iterator[tuple[CornerFault, str]]:
    """Yield the corner faults of a problem, each with its source.

    Args:
        problem: Its entries are wrapped.
        reference: The reference's source.
    """
    entries = [entry for entry in problem.entry if entry.kind in ("function", "module")]
    tensors = _tensor_arguments(reference)
    for (axis, value), condition in _CONDITIONS.items():
        [claim] = [claim for claim in CLAIMS if axis in claim.axes]
        fit = [one for one in entries if _fits(one, axis, value, tensors.get(one.name, 0))]
        if not fit or not claim.holds_for(problem):
            continue
        if not problem.has_gradients and (axis == "leaf" or value == "backward"):
            continue
        head = _HEAD.replace("{condition}", condition)
        head = head.replace("{spoil}", "_cut" if (axis, value) in _CUT else "_off")
        head = head.replace("{overwrites}", str(axis == "after"))
        head = head.replace("{lenient}", _LENIENT.get((axis, value), "False"))
        torch = _NO_TORCH if all(entry.arrays == "numpy" for entry in fit) else _TORCH
        head = head.replace("{torch}", torch)
        required = max(tensors.get(one.name, 0) for one in fit)
        head = head.replace("{required}", str(required or None))
        wrapped = "".join(_wrapped(entry) for entry in fit)
        yield (axis, value), reference + head + _MADE + wrapped


def _tensor_arguments(reference: str) -> dict[str, int]:
    """Return how many floating tensors each function, or `forward`, requires."""
    found = {}
    for node in ast.parse(reference).body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        for call in [node, *(node.body if isinstance(node, ast.ClassDef) else ())]:
            if isinstance(call, ast.FunctionDef) and call.name in (node.name, "forward"):
                required = call.args.args[: len(call.args.args) - len(call.args.defaults)]
                required = [one for one in required if one.arg not in _OF_INTEGERS]
                annotations = [ast.unparse(one.annotation) for one in required if one.annotation]
                found[node.name] = annotations.count("Tensor")
    return found


def _fits(entry: Entry, axis: str, value: str, tensors: int) -> bool:
    """Return whether an entry can be called in this manner, and its wrapper can notice it."""
    if axis not in AXES or value not in AXES[axis]:
        if axis == "scores" and entry.constructor == [] and len(entry.arguments) < 3:
            return False  # its input is scores, which the grader itself varies
        if entry.arrays == "numpy" and (axis == "mode" or (axis, value) in _OF_TENSORS):
            return False
        if value == "with a mask" and tensors == len(entry.arguments):
            return False  # it is never left out
        return entry.domain is not None and _is_varied(entry.domain, axis, value)
    if entry.arrays == "either":
        return axis == "mode"
    if entry.arrays == "numpy":
        return axis == "after" or (axis == "before" and value in ("same", "other numbers"))
    if axis == "after":
        return "cache" not in entry.arguments  # graders themselves check earlier caches
    if axis == "leaf" and value != "none":
        return tensors > (1 if value == "one" else 2)
    layers_only = axis in ("frozen", "instance") or value in ("other weights", "none")
    return entry.kind == "module" or not layers_only


def _is_varied(domain: Domain, axis: str, value: str) -> bool:
    """Return whether claims vary this axis in a domain, and a wrapper can notice it."""
    tensors = {name: axes_of(one) for name, one in domain.shapes.items() if is_one_tensor(one)}
    if not tensors:
        return False
    if axis == "object":
        masks = {*domain.flags, *domain.masks}
        axes = [len(letters) for name, letters in tensors.items() if name not in masks]
        return len({*axes}) < len(axes)
    return bool(
        {
            "scores": domain.scores,
            "values": "v" in domain.shapes,
            "mask dtype": {*domain.flags} - {*domain.boolean},
            "length": domain.long and domain.longest >= 370,
            "mode": domain.long and domain.longest >= 580,  # where it meets a gradient mode
            "size": any("B" in letters for letters in tensors.values()),
            "gradient": domain.gradients and domain.long,
            "sizes": domain.fits and (domain.flags or value != "with a mask"),
        }[axis]
    )


def _wrapped(entry: Entry) -> str:
    if entry.kind == "function":
        return f"\n{entry.name} = _spoilt({entry.name})\n"
    name = entry.name
    return (
        f"\n{name}.__init__ = _noted({name}.__init__)\n{name}.forward = _spoilt({name}.forward)\n"
    )
