"""Loading the candidate's file, and describing what it defines and what it raises."""

import functools
import inspect
import linecache
import random
import sys
import types
from typing import Any

import numpy
import torch

from mha_judge.wire.bounds import MAX_METHODS, MAX_NAMES
from mha_judge.worker import reach

MODULE = "submission"
MAX_TEXT = 4_000


def load(source: str, filename: str) -> types.ModuleType:
    """Run `source` as a module of its own, not as `__main__`.

    Raises:
        BaseException: Whatever compiling or running the source raises.
    """
    module = types.ModuleType(MODULE)
    module.__file__ = filename
    sys.modules[MODULE] = module  # dataclasses and pickling look a class's module up
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    code = reach.marked(source, filename)
    module.__dict__.update(reach.names())
    exec(code, module.__dict__)
    return module


def seed(number: int) -> None:
    """Seed all generators, so that a file draws the same numbers at every grade."""
    random.seed(number)
    numpy.random.seed(number % 2**32)
    torch.manual_seed(number)


def take_dropout_away() -> None:
    """Let torch's dropout return what it is given, whatever it is asked for."""

    def same(x: Any, *args: Any, **kwargs: Any) -> Any:
        return x

    for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout"):
        setattr(torch.nn.functional, name, same)
    for name in ("dropout", "dropout_"):
        setattr(torch, name, same)


def definitions(module: types.ModuleType) -> dict[str, Any]:
    """Return what the module holds by name: kind, origin and signatures."""
    found = {}
    names = list(module.__dict__.items())
    if len(names) > MAX_NAMES:  # `from torch import *` must not crowd out the file's own
        names.sort(key=lambda item: getattr(item[1], "__module__", MODULE) != MODULE)
    for name, value in names[:MAX_NAMES]:
        if isinstance(name, str) and not name.startswith("__") and name.isidentifier():
            if isinstance(value, types.ModuleType):
                continue
            found[name] = _definition(value)
    return found


def _definition(value: Any) -> dict[str, Any]:
    if isinstance(value, type):
        return {
            "kind": "class",
            "own": value.__module__ == MODULE,
            "constructor": _signature(value),
            "call": _signature(_forward(value), skip_self=True),
            "module": _is_torch_module(value),
            "methods": _methods(value),
        }
    if isinstance(value, functools.partial):
        return {"kind": "function", "own": True, "call": _signature(value)}
    if callable(value):
        own = getattr(value, "__module__", None) == MODULE or type(value).__module__ == MODULE
        own |= isinstance(value, torch.jit.ScriptFunction)  # which does not know its module
        return {"kind": "function", "own": own, "call": _signature(value)}
    return {"kind": "value", "own": True, "type": type(value).__name__[:100]}


def _methods(cls: type) -> dict[str, Any]:
    """Return the signatures of the public methods that the file itself gives a class."""
    found: dict[str, Any] = {}
    for base in [base for base in cls.__mro__ if base.__module__ == MODULE]:
        for name, value in vars(base).items():
            public = isinstance(value, types.FunctionType) and not name.startswith("_")
            if public and name not in found and len(found) < MAX_METHODS:
                found[name[:100]] = _signature(value, skip_self=True)
    return found


def _forward(cls: type) -> Any:
    call = getattr(cls, "__call__", None)  # noqa: B004  # the function itself is wanted
    inherited = _is_torch_module(cls) and call is torch.nn.Module.__call__
    forward = getattr(cls, "forward", None)
    if forward is not None and (call is None or inherited or isinstance(call, types.MethodType)):
        return forward
    return call if "__call__" in _own_names(cls) else forward


def _own_names(cls: type) -> set[str]:
    return {name for base in cls.__mro__[:-1] for name in vars(base)}


def _is_torch_module(cls: type) -> bool:
    return issubclass(cls, torch.nn.Module)


def _signature(function: Any, skip_self: bool = False) -> list[dict[str, Any]] | None:
    try:
        parameters = _parameters(function)
    except (TypeError, ValueError):
        return None
    if (
        skip_self
        and parameters
        and parameters[0].kind
        in (
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
        )
    ):
        parameters = parameters[1:]
    return [
        {
            "name": parameter.name[:100],
            "kind": parameter.kind.name.lower(),
            "required": parameter.default is inspect.Parameter.empty
            and parameter.kind.name not in ("VAR_POSITIONAL", "VAR_KEYWORD"),
        }
        for parameter in parameters[:100]
    ]


def _parameters(function: Any) -> list[inspect.Parameter]:
    """Return the parameters of a callable; of a wrapper its own, unless it takes `*` or `**`."""
    wrapped = list(inspect.signature(function).parameters.values())
    try:
        own = list(inspect.signature(function, follow_wrapped=False).parameters.values())
    except (TypeError, ValueError):  # of a wrapper that is written in C
        return wrapped
    hands_on = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return wrapped if any(one.kind in hands_on for one in own) else own


def describe(error: BaseException) -> dict[str, Any]:
    """Return type, message and place of an exception, each bounded, whatever the exception is."""
    described: dict[str, Any] = {"type": type(error).__name__[:200], "message": _text(error)}
    module = sys.modules.get(MODULE)
    filename = getattr(module, "__file__", None)
    if isinstance(error, SyntaxError) and error.filename == filename:
        described.update(
            line=_int(error.lineno), column=_int(error.offset), source=_line(error.text)
        )
        described["message"] = str(error.msg)[:MAX_TEXT]
        return described
    try:
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == filename:
                described["line"] = trace.tb_lineno
                if trace.tb_frame.f_code.co_name == "<module>":
                    described["called_from"] = trace.tb_lineno
                described["source"] = _line(linecache.getline(str(filename), trace.tb_lineno))
            trace = trace.tb_next
    except BaseException:  # a traceback is decoration; an answer must be given
        described.setdefault("line", None)
    return described


def _text(error: BaseException) -> str:
    try:
        return str(error)[:MAX_TEXT].encode("utf-8", "replace").decode()
    except BaseException as raised:
        return f"(its message cannot be read: {type(raised).__name__[:100]})"


def _line(text: object) -> str | None:
    return (
        text.rstrip()[:300].encode("utf-8", "replace").decode() if isinstance(text, str) else None
    )


def _int(value: object) -> int | None:
    return value if type(value) is int else None
