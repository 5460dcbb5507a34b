"""Which repair is tried for what stops a program."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping

from mha_judge.judge.repair import calls, names, syntax, tensors
from mha_judge.judge.repair.place import Place, Repair, Stop
from mha_judge.syntax import syntax_tree

_MOST = 100
"""How many are made of one file."""
_MOST_CHARACTERS = 32_768
"""Of a file that is repaired: each repair reads all of it."""


def repairs(source: str, stop: Stop) -> Iterator[Repair]:
    """Yield the file repaired in one place, likeliest first; nothing where none is known."""
    if len(source) > _MOST_CHARACTERS:
        return
    place = Place.of(source, stop)
    seen = {place.source}
    matches = ((re.search(words, stop.message), kind) for words, kind in _KINDS.items())
    found = (repair for match, kind in matches if match for repair in kind(place, *match.groups()))
    for repair in itertools.islice(found, _MOST):
        if repair.source not in seen and syntax_tree(repair.source) is not None:
            seen.add(repair.source)
            yield repair


_KINDS: Mapping[str, Callable[..., Iterator[Repair]]] = {
    r"SyntaxError: expected ':'": syntax.missing_colon,
    r"SyntaxError: '([(\[{])' was never closed": syntax.open_bracket,
    r"SyntaxError: unmatched '([)\]}])'": syntax.unmatched_bracket,
    r"NameError: name '(\w+)' is not defined": names.unknown,
    r"AttributeError: module '([\w.]+)' has no attribute '(\w+)'": names.unknown_in_module,
    r"AttributeError: '(\w+)' object has no attribute '(\w+)'": names.unknown_in_object,
    r"AttributeError: cannot assign \w+ before Module.__init__": calls.no_super,
    r"is a `return` missing|NoneType": calls.no_return,
    r"unexpected keyword argument '(\w+)'|received an invalid combination": calls.wrong_keyword,
    r'TypeError: (\w+)\(\) missing 1 required positional arguments?: "dim"': calls.no_axis,
    r"TypeError: (cat|concat|stack)\(\)(?:: argument 'tensors'| takes)": calls.no_tuple,
    r"TypeError: (\w+)\(\): argument 'input' \(position 1\) must be Tensor, not (?:int|float)": (
        calls.of_a_number
    ),
    r"TypeError: '(?:torch\.Size|tuple)' object is not callable": calls.shape_called,
    r"TypeError: .*builtin_function_or_method": calls.size_not_called,
    r"TypeError: .*(?:tuple of ints|\bfloat\b|slice indices|were given)": calls.true_division,
    r"RuntimeError: view size is not compatible": tensors.impossible_view,
    r"RuntimeError: t\(\) expects a tensor with <= 2 dimensions": tensors.transposed_matrix,
    r"operator\.invert|boolean|bitwise_|ufunc 'invert'|with a bool tensor": tensors.no_boolean,
    r"same dtype|expected scalar type|dtypes match|can't be cast": tensors.other_dtype,
    r"on the same device": tensors.other_device,
    r"in range of \[-\d+, (\d+)\], but got (-?\d+)": tensors.axis_out_of_range,
    r"axis (-?\d+) is out of bounds for array of dimension (\d+)": tensors.axis_out_of_bounds,
    r"dimension|axis|[Ss]izes? |shapes? |IndexError: tuple index": tensors.other_axis,
}
"""By a regular expression of what stops a program, what repairs it."""
