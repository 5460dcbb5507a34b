"""Problems whose answers work on NumPy arrays, or take functions: the judge has tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy
import torch
from torch import Tensor

from mha_judge.bank.problem import Entry
from mha_judge.wire import Opaque, map_tree
from mha_judge.wire.language_models import with_language_models


def as_arrays(tree: Any) -> Any:
    """Return a tree with its tensors as NumPy arrays of the same memory, one for each tensor."""
    made: dict[int, Any] = {}

    def array(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        if id(leaf) not in made:
            made[id(leaf)] = leaf.numpy()
        return made[id(leaf)]

    return map_tree(array, tree)


def as_tensors(tree: Any) -> Any:
    """Return a tree with its NumPy arrays as tensors."""
    return map_tree(_tensor, tree)


def _tensor(leaf: Any) -> Any:
    plain = isinstance(leaf, (numpy.ndarray, numpy.generic)) and leaf.dtype.kind in "fciub"
    return torch.from_numpy(numpy.array(leaf)) if plain else leaf


def returned(entry: Entry, tree: Any) -> Any:
    """Return a call's result with tensors in place of arrays, if the entry may return arrays.

    An array of float64, which is what NumPy makes by itself, counts as one of float32 if the entry
    may return either kind. The bank's own programs already return tensors.
    """
    if entry.arrays in ("torch", "none"):
        return tree

    def take(leaf: Any) -> Any:
        tensor = _tensor(leaf)
        wide = isinstance(tensor, Tensor) and tensor.dtype is torch.float64
        return tensor.float() if wide and entry.arrays == "either" else tensor

    return map_tree(take, tree)


def only_arrays(entry: Entry, tree: Any) -> Any:
    """Return a candidate's result; if arrays are wanted, its tensors are marked as no arrays."""
    if entry.arrays != "numpy":
        return tree
    return map_tree(
        lambda leaf: Opaque("a torch.Tensor") if isinstance(leaf, Tensor) else leaf, tree
    )


def narrowed(found: Tensor, wanted: torch.dtype) -> Tensor:
    """Return float64 as float32 if float32 is wanted; everything else as it is.

    NumPy widens by itself: `scores / np.sqrt(D)` and `mask * -1e9` are float64 whatever the scores
    were. A problem about dtypes looks at the array itself.
    """
    widened = found.dtype is torch.float64 and wanted is torch.float32
    return found.float() if widened else found


def on_tensors(entry: Entry, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the bank as one that takes and returns tensors."""
    if entry.language_models:
        places = [str(entry.arguments.index(name)) for name in entry.language_models]
        function = with_language_models(function, places)
    if entry.arrays != "numpy":
        return function
    return lambda *args: _call(function, args)


def _call(function: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Return the result of a function on arrays for tensors; it may overflow silently."""
    with numpy.errstate(all="ignore"):
        return as_tensors(function(*as_arrays(list(args))))


def make_layer(cls: Any, sizes: Mapping[str, Any], dtype: torch.dtype) -> torch.nn.Module:
    """Return a layer of a class of the bank, in a dtype; a class on arrays is made a module.

    Its weights are still to be set; those of linear maps are zeros.
    """
    with _without_initialisation():
        made = cls(**sizes)
    module = made.to(dtype) if isinstance(made, torch.nn.Module) else _ArrayLayer(made, dtype)
    return module.eval()


@contextmanager
def _without_initialisation() -> Iterator[None]:
    """Make maps of zeros: drawing weights that are replaced at once would take most of the time."""
    draw = torch.nn.Linear.reset_parameters
    torch.nn.Linear.reset_parameters = _zeros  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        torch.nn.Linear.reset_parameters = draw  # type: ignore[method-assign]


def _zeros(linear: torch.nn.Linear) -> None:
    with torch.no_grad():
        for parameter in linear.parameters():
            parameter.zero_()


class _ArrayLayer(torch.nn.Module):
    """An object with arrays used as `x @ W`, as a module with weights (out, in)."""

    def __init__(self, made: Any, dtype: torch.dtype) -> None:
        super().__init__()
        self.made = made
        for name, value in list(vars(made).items()):
            if isinstance(value, numpy.ndarray):
                weight = torch.from_numpy(value).to(dtype, copy=True)
                setattr(made, name, weight.numpy())  # shared: a weight set here is set there
                turned = weight.mT if weight.ndim > 1 else weight
                self.register_parameter(name, torch.nn.Parameter(turned, requires_grad=False))

    def forward(self, *args: Any) -> Any:
        return _call(self.made.forward, args)
