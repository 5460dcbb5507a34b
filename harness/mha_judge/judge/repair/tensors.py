"""Tensors that do not go together: their axes, their dtypes, where they lie in memory."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from mha_judge.judge.repair.place import Place, Repair, Span, named, written
from mha_judge.syntax import name_of

_TAKE_AXES = {
    "amax": 0, "amin": 0, "argmax": 0, "argmin": 0, "cat": 0, "chunk": 1, "concat": 0,
    "concatenate": 0, "cumsum": 0, "expand_dims": 0, "flatten": 0, "flip": 0, "gather": 0,
    "index_select": 0, "log_softmax": 0, "logsumexp": 0, "max": 0, "mean": 0, "min": 0,
    "movedim": 0, "moveaxis": 0, "narrow": 0, "norm": 0, "permute": 0, "repeat": 1,
    "repeat_interleave": 1, "select": 0, "size": 0, "softmax": 0, "split": 1, "squeeze": 0,
    "stack": 0, "std": 0, "sum": 0, "swapaxes": 0, "swapdims": 0, "take_along_axis": 1,
    "transpose": 0, "unbind": 0, "unflatten": 0, "unsqueeze": 0, "var": 0,
}  # fmt: skip
"""What takes axes, and how many numbers it takes before them."""
_AXES = ("axis", "axis1", "axis2", "destination", "dim", "dim0", "dim1", "end_dim", "source",
         "start_dim")  # fmt: skip
"""What arguments that are axes are called."""
_REDUCE = ("amax", "amin", "logsumexp", "max", "mean", "min", "norm", "std", "sum", "var")
"""What drops the axis that it goes along, unless told to keep it."""
_KEEP = ("keepdim", "keepdims")
"""How that is told, of a tensor and of an array."""
_PAIRS = ("transpose", "swapaxes", "swapdims")
_USUAL = ((-2, -1), (1, 2))
"""The axes that attention exchanges: of keys, and of heads."""
_MOST_AXES = 8
"""A tensor of a learner has no more."""
_MAKE = ("arange", "empty", "eye", "full", "linspace", "ones", "rand", "randn", "tensor", "zeros")
"""What makes a tensor of a dtype of its own."""
_ASK = ("masked_fill", "masked_fill_", "where")
"""What takes a boolean tensor first."""
_MULTIPLY = ("bmm", "dot", "einsum", "linear", "matmul", "mm", "mv")


def impossible_view(place: Place) -> Iterator[Repair]:
    line = place.stop.line
    yield place.repair(
        place.with_line(line, re.sub(r"\bview\(", "reshape(", place.line(line))),
        line,
        "`view` cannot merge what a transpose has moved apart",
        "After the transpose the axes that are merged do not lie side by side in memory, and "
        "`view` never copies. `reshape` copies where it must, and so does `contiguous` before a "
        "`view`.",
        "What does the exception say to use instead?",
    )


def transposed_matrix(place: Place) -> Iterator[Repair]:
    for call in place.calls():
        if named(call) == "t" and not call.args and isinstance(call.func, ast.Attribute):
            name = (place.span(call.func)[1] - 1, place.span(call)[1])
            yield place.running(
                place.span(call),
                [(name, "mT")],
                "`{}` is asked of more than a matrix",
                "How many axes has the tensor?",
            )


def no_boolean(place: Place) -> Iterator[Repair]:
    method = "astype(bool)" if "ufunc" in place.stop.message else "bool()"
    for node in _boolean(place.stopped):
        yield place.running(
            place.span(node),
            [(place.span(node), f"{_operand(place, node)}.{method}")],
            "`{}` is not boolean",
            "Of which dtype is it?",
            "`~`, `&`, `|` and `masked_fill` take booleans.",
        )
    for node in written(place.stopped, ast.BinOp) if place.stopped else ():
        if isinstance(node.op, ast.Sub) and place.text(node.left) in ("1", "1.0"):
            yield place.running(
                place.span(node),
                [(place.span(node), f"{_operand(place, node.right)}.logical_not()")],
                "`{}` is asked of booleans, which have no difference",
                "How is a boolean mask turned round?",
            )


def _boolean(statement: ast.stmt | None) -> Iterator[ast.expr]:
    """Yield what has to be boolean in a statement."""
    nodes = written(statement, ast.expr) if statement else []
    for node in nodes:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            yield node.operand
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr)):
            yield from (node.left, node.right)
    for node in nodes:
        if isinstance(node, ast.Call) and node.args and named(node) in _ASK:
            yield node.args[0]


def other_dtype(place: Place) -> Iterator[Repair]:
    for node, other in _multiplied(place):
        if other:
            yield place.running(
                place.span(node),
                [(place.span(node), f"{_operand(place, node)}.to({other}.dtype)")],
                f"`{{}}` does not follow the dtype of `{other}`",
                "Of which dtype is each of the two, where the input is not float32?",
            )
    hint = "Of which dtype is it, where the input is not float32?"
    yield from _made_as(place, "dtype", ("double", "float", "half"), hint)


def other_device(place: Place) -> Iterator[Repair]:
    yield from _made_as(
        place, "device", ("cpu",), "Where does it lie, where the input is on a GPU?"
    )


def _made_as(place: Place, what: str, methods: Sequence[str], hint: str) -> Iterator[Repair]:
    """Yield the file in which a call makes a tensor with the dtype or the device of another.

    Args:
        place: The file.
        what: `dtype` or `device`.
        methods: Methods that give a tensor one of their own.
        hint: What to look at.
    """
    for statement in place.origins():
        for call in written(statement, ast.Call):
            for name in place.parameters_at(call.lineno)[:1]:
                if edit := _following(place, call, f"{name}.{what}", methods):
                    told = f"`{{}}` does not follow the {what} of `{name}`"
                    yield place.running(place.tail(call), [edit], told, hint)


def _following(
    place: Place, call: ast.Call, wanted: str, methods: Sequence[str]
) -> tuple[Span, str] | None:
    """Return what makes a call take its dtype or device from elsewhere."""
    if not isinstance(call.func, ast.Attribute):
        return None
    if named(call) in methods:
        return (place.span(call.func.value)[1], place.tail(call)[1]), f".to({wanted})"
    if named(call) not in _MAKE:
        return None
    what = wanted.rpartition(".")[2]
    for one in call.keywords:
        if one.arg == what:
            return place.span(one.value), wanted
    after = [place.span(one)[1] for one in (*call.args, *call.keywords)]
    return ((max(after), max(after)), f", {what}={wanted}") if call.args else None


def _multiplied(place: Place) -> Iterator[tuple[ast.expr, str]]:
    """Yield what is multiplied or assigned in the statement that stops, and a name with which it
    has to share its dtype."""
    if place.stopped is None:
        return
    for node in written(place.stopped, ast.BinOp):
        if isinstance(node.op, ast.MatMult):
            yield node.left, _root(node.right)
            yield node.right, _root(node.left)
    for call in place.calls():
        tensors = [one for one in call.args if not isinstance(one, ast.Constant)]
        if named(call) in _MULTIPLY:
            for one, other in itertools.permutations(tensors[:3], 2):
                yield one, _root(other)
        elif isinstance(call.func, ast.Attribute) and _root(call.func) == "self" and tensors:
            yield tensors[0], f"{place.text(call.func)}.weight"
    if isinstance(place.stopped, ast.Assign):
        for target in place.stopped.targets:
            if isinstance(target, ast.Subscript):
                yield place.stopped.value, _root(target)


def _root(node: ast.expr) -> str:
    """Return the name with which an expression begins."""
    while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return name_of(node)


def axis_out_of_range(place: Place, last: str, axis: str) -> Iterator[Repair]:
    yield from _moved(place, int(axis), int(last) + 1)


def axis_out_of_bounds(place: Place, axis: str, count: str) -> Iterator[Repair]:
    yield from _moved(place, int(axis), int(count))


def other_axis(place: Place) -> Iterator[Repair]:
    yield from _kept(place)
    yield from _moved(place)


def _kept(place: Place) -> Iterator[Repair]:
    """Yield the file in which what reduces an axis keeps it, nearest to the line that stops."""
    for statement in place.origins():
        for call in written(statement, ast.Call):
            given = {one.arg for one in call.keywords}
            if named(call) in _REDUCE and _axes_of(place, call) and not given & {*_KEEP}:
                is_array = _root(call.func) in ("np", "numpy") or "torch" not in place.source
                end = place.span(call)[1] - 1
                yield place.running(
                    place.tail(call),
                    [((end, end), f", {_KEEP[is_array]}=True")],
                    "`{}` drops its axis",
                    "Which shape comes out, and which shape must it go together with?",
                    "An axis that is kept has size 1, and is broadcast.",
                )


def _moved(place: Place, wrong: int | None = None, count: int = 0) -> Iterator[Repair]:
    """Yield the file with other axes in one place, nearest to the line that stops first.

    Args:
        place: The file.
        wrong: The axis that there is not; None if any may be wrong.
        count: How many axes there are, where that is known.
    """
    for statement in place.origins():
        for node in written(statement, ast.Call, ast.Subscript):
            axes = _axes_of(place, node)
            if wrong is not None and wrong not in axes.values():
                continue
            for edits in _other_axes(node, axes, wrong, count):
                what = "the axes of `{}` do" if len(axes) > 1 else "the axis of `{}` does"
                yield place.running(
                    place.tail(node),
                    [(place.span(one), str(axis)) for one, axis in edits],
                    f"{what} not fit",
                    "Write the shape beside each line. Which axis is which?",
                )


def _other_axes(
    node: ast.AST, axes: Mapping[ast.expr, int], wrong: int | None, count: int
) -> Iterator[list[tuple[ast.expr, int]]]:
    """Yield numbers and other axes for them: those beside, the usual two, from the end."""
    if len(axes) > _MOST_AXES:
        return
    if len(axes) > 2:
        for first, second in itertools.combinations(axes, 2):
            yield [(first, axes[second]), (second, axes[first])]
        return
    moved = {one: axis for one, axis in axes.items() if wrong in (None, axis)}
    for one, axis in moved.items():
        for other in (axis + 1, axis - 1):
            if other not in axes.values() and (not count or -count <= other < count):
                yield [(one, other)]
    if isinstance(node, ast.Call) and named(node) in _PAIRS and len(axes) == 2:
        yield from (list(zip(axes, pair, strict=True)) for pair in _USUAL)
    for one, axis in moved.items():
        for other in (-1, *(range(min(count, _MOST_AXES)) if count else (-axis,))):
            if other not in axes.values():
                yield [(one, other)]


def _axes_of(place: Place, node: ast.AST) -> dict[ast.expr, int]:
    """Return the numbers in a call, or in `x.shape[1]`, that are axes."""
    if isinstance(node, ast.Subscript):
        of_shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        return _numbers([node.slice]) if of_shape else {}
    if not isinstance(node, ast.Call) or named(node) not in _TAKE_AXES:
        return {}
    positional = node.args
    if _root(node.func) in ("torch", "F", "np", "numpy", "nn"):
        positional = positional[1:]
    positional = positional[_TAKE_AXES[named(node)] :]
    named_ = [one.value for one in node.keywords if one.arg in _AXES]
    return _numbers([*positional, *named_])


def _numbers(nodes: Sequence[ast.expr]) -> dict[ast.expr, int]:
    """Return the integers among expressions, and in their tuples, in order."""
    found: dict[ast.expr, int] = {}
    for node in nodes:
        if isinstance(node, (ast.Tuple, ast.List)):
            found |= _numbers(node.elts)
            continue
        sign, number = 1, node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            sign, number = -1, node.operand
        value = number.value if isinstance(number, ast.Constant) else None
        if type(value) is int and value < _MOST_AXES:
            found[node] = sign * value
    return found


def _operand(place: Place, node: ast.expr) -> str:
    """Return how an expression is written where a method follows."""
    text = place.text(node)
    alone = isinstance(node, (ast.Name, ast.Call, ast.Attribute, ast.Subscript))
    return text if alone else f"({text})"
