"""The Python that calls are written in: a few forms, which are read and never run."""

from __future__ import annotations

import ast
import difflib
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy
import torch
from torch import Tensor

from mha_judge.errors import UsageError
from mha_judge.grading.draw import Draw

MAX_NUMBERS = 1_000_000
"""How many numbers a tensor may hold."""
MAX_CHARACTERS = 1_000_000
"""How long a call may be, written out."""
_MODULES = ("torch", "np", "numpy", "math")
_DTYPES = {
    name: getattr(torch, name)
    for name in (
        "bool", "uint8", "int8", "int16", "int32", "int64", "long", "float16", "half", "bfloat16",
        "float32", "float", "float64", "double",
    )
}  # fmt: skip
_WHOLE = re.compile(r"\.0(?=[,\]]|$)")
"""The end of a float that is a whole number."""
_CONSTANTS = {"inf": math.inf, "nan": math.nan, "pi": math.pi}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
}  # fmt: skip
_BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_METHODS = (
    "bool", "int", "long", "half", "bfloat16", "float", "double", "to", "tril", "triu",
    "transpose", "permute", "reshape", "view", "unsqueeze", "squeeze", "contiguous",
)  # fmt: skip
_MAKERS = ("tensor", "zeros", "ones", "full", "eye", "arange", "randn", "tril", "triu")
_FORMS = (
    f"numbers, lists, + − * /, indices, {', '.join(_MAKERS)}, "
    f"and of a tensor .T, .mT, {', '.join(f'.{name}' for name in _METHODS)}"
)


class Notation:
    """Reads what calls are made of: numbers, lists and tensors, under names."""

    def __init__(self, draw: Draw) -> None:
        """Take where the numbers of `randn` come from."""
        self._draw = draw
        self.names: dict[str, Any] = {}
        """What has a name so far."""

    def value(self, node: ast.expr) -> Any:
        """Return what an expression says.

        Raises:
            UsageError: If it has another form, is too large, or fails; names the place.
        """
        match node:
            case ast.Constant(value=bool() | int() | float() | str() | None):
                return node.value
            case ast.Name(id=name):
                return self._named(node, name)
            case ast.List(elts=items):
                return [self.value(item) for item in items]
            case ast.Tuple(elts=items):
                return tuple(self.value(item) for item in items)
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
                value = self.value(operand)
                with placed(node):
                    return _UNARY[type(op)](value)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return _joined(node, _BINARY[type(op)], self.value(left), self.value(right))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _BINARY:
                return _joined(node, _BINARY[type(op)], self.value(left), self.value(right))
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in _MODULES:
                return self._named(node, name)
            case ast.Attribute(value=of, attr="T" | "mT" as name):
                owner = self.value(of)
                with placed(node):
                    return getattr(_tensor(owner), name)
            case ast.Subscript(value=of, slice=index):
                owner, place = self.value(of), self._index(index)
                with placed(node):
                    return owner[place]
            case ast.Call(func=func, args=args, keywords=keywords):
                given = [self.value(arg) for arg in args]
                if all(word.arg is not None for word in keywords):
                    named = {str(word.arg): self.value(word.value) for word in keywords}
                    return self.call(node, func, given, named)
        raise _at(node, f"`{ast.unparse(node)}` cannot be read; a call may have {_FORMS}")

    def callable(self) -> Mapping[str, Any]:
        """Return what can be called beside torch's own, by all its names, the usual one first."""
        return {}

    def call(
        self, node: ast.expr, func: ast.expr, args: Sequence[Any], named: Mapping[str, Any]
    ) -> Any:
        """Return what a call gives."""
        match func:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in _MODULES:
                return self._made(node, name, args, named)
            case ast.Attribute(value=of, attr=name) if name in _METHODS:
                owner = self.value(of)
                with placed(node):
                    return getattr(_tensor(owner), name)(*args, **named)
            case ast.Name(id="float") if [type(arg) for arg in args] == [str]:
                with placed(node):
                    return float(args[0])
            case ast.Name(id=name):
                return self._made(node, name, args, named)
        raise self._not_callable(node, ast.unparse(func))

    def _named(self, node: ast.expr, name: str) -> Any:
        for names in (self.names, _CONSTANTS, _DTYPES):
            if name in names:
                return names[name]
        raise _at(node, f"`{name}` has no value here")

    def _index(self, node: ast.expr) -> Any:
        match node:
            case ast.Slice(lower=lower, upper=upper, step=step):
                ends = (None if end is None else self.value(end) for end in (lower, upper, step))
                return slice(*ends)
            case ast.Tuple(elts=items):
                return tuple(self._index(item) for item in items)
            case ast.Constant(value=value) if value is Ellipsis:
                return ...
        return self.value(node)

    def _made(
        self, node: ast.expr, name: str, args: Sequence[Any], named: Mapping[str, Any]
    ) -> Any:
        """Return a new tensor."""
        with placed(node):
            return self._new(node, name, args, named)

    def _new(self, node: ast.expr, name: str, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        match name:
            case "array":  # floats are float64, as in NumPy
                made = torch.from_numpy(numpy.array(args[0]))
                return made.to(named.get("dtype", made.dtype))
            case "tensor" | "arange" | "full":
                if name == "arange":
                    _require_few([max(map(abs, args), default=0)])
                if name == "full":
                    _require_few(_sizes(args[:1]))
                return getattr(torch, name)(*args, **named)
            case "zeros" | "ones" | "eye":
                sizes = _sizes(args)
                _require_few([*sizes, *sizes] if name == "eye" and len(sizes) == 1 else sizes)
                return getattr(torch, name)(*args, **named)
            case "randn":
                _require_few(_sizes(args))
                return self._draw.normal(*_sizes(args)).to(named.get("dtype", torch.float32))
            case "tril" | "triu":
                return getattr(torch, name)(_tensor(args[0]), *args[1:], **named)
        if near := difflib.get_close_matches(name, [*self.names, *_MAKERS, *self.callable()], 1):
            raise _at(node, f"`{name}` cannot be called here; did you mean `{near[0]}`?")
        raise self._not_callable(node, name)

    def _not_callable(self, node: ast.expr, called: str) -> UsageError:
        """Return the error that names what can be called: the problem's own first."""
        usual: dict[int, str] = {}
        for name, own in self.callable().items():
            usual.setdefault(id(own), f"`{name}`")
        there = f"the problem has {', '.join(usual.values())}; besides, " if usual else ""
        return _at(node, f"`{called}` cannot be called here; {there}there are {_FORMS}")


@contextmanager
def placed(node: ast.expr) -> Iterator[None]:
    """Name the place of what cannot be reckoned."""
    try:
        yield
    except (TypeError, ValueError, IndexError, RuntimeError, ArithmeticError) as error:
        raise _at(node, str(error).partition("\n")[0]) from error


def _at(node: ast.expr, text: str) -> UsageError:
    return UsageError(f"the call, line {node.lineno}, column {node.col_offset + 1}: {text}")


def _joined(node: ast.expr, operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    with placed(node):
        if isinstance(left, Tensor) and isinstance(right, Tensor):
            _require_few(numpy.broadcast_shapes(left.shape, right.shape))
        elif not all(isinstance(one, (bool, int, float, Tensor)) for one in (left, right)):
            raise TypeError("only numbers and tensors can be reckoned with")
        return operation(left, right)


def _tensor(value: Any) -> Tensor:
    if not isinstance(value, Tensor):
        raise TypeError(f"a tensor is wanted, not {type(value).__name__}")
    return value


def _sizes(args: Sequence[Any]) -> Sequence[int]:
    sizes = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    if not all(type(size) is int and size >= 0 for size in sizes):
        raise TypeError("sizes are whole numbers")
    return sizes


def _require_few(sizes: Sequence[float]) -> None:
    if math.prod(sizes) > MAX_NUMBERS:
        raise ValueError(f"a tensor may hold at most {MAX_NUMBERS} numbers")


def written(value: Any, *, arrays: bool = False) -> str:
    """Return how a value is written, so that reading it gives it back.

    Args:
        value: Numbers, tensors, or a list or tuple of such.
        arrays: Whether tensors are written as NumPy arrays.
    """
    if isinstance(value, (list, tuple)):
        items = ", ".join(written(one, arrays=arrays) for one in value)
        comma = "," if len(value) == 1 else ""
        return f"[{items}]" if isinstance(value, list) else f"({items}{comma})"
    if not isinstance(value, Tensor):
        return repr(value)
    numbers = _WHOLE.sub(".", repr(value.tolist()).replace("inf", "math.inf"))
    usual = torch.tensor(value.tolist()).dtype
    if arrays and usual is torch.float32:
        usual = torch.float64
    dtype = "" if usual is value.dtype and value.numel() else f", dtype={value.dtype}"
    if arrays:
        return f"np.array({numbers}{dtype.replace('torch', 'np')})"
    return f"torch.tensor({numbers}{dtype})"
