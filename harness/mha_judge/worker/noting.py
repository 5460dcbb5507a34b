"""Notes of what the submission makes use of: ready-made attention, and autograd.

The functions that do such work note the call and then do it as ever, in every request and not only
in those that are observed. Only what runs is noted: a name in the source says nothing.
"""

import functools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
import torch.nn.functional

from mha_judge.worker.submission import MODULE

_READY_MADE: tuple[tuple[Any, str], ...] = (
    (torch.nn.functional, "scaled_dot_product_attention"),
    (torch._C._nn, "scaled_dot_product_attention"),
    (torch.nn.functional, "multi_head_attention_forward"),  # all of nn.MultiheadAttention but …
    (torch, "_native_multi_head_attention"),  # … its fast path, …
    (torch, "_transformer_encoder_layer_fwd"),  # … and that of the encoder around it
)
_AUTOGRAD: tuple[tuple[Any, str], ...] = (
    (torch.autograd, "grad"),  # torch.func.grad, vjp, jacrev and hessian end here too
    (torch.autograd, "backward"),
    (torch.autograd.forward_ad, "make_dual"),  # and jvp, jacfwd, linearize here
)

_notes: dict[tuple[str, str], int | None] = {}


def install() -> None:
    """Begin to note, in this process and for good."""
    for rule, functions in (("fused-attention", _READY_MADE), ("autograd", _AUTOGRAD)):
        for owner, name in functions:
            setattr(owner, name, _noting(rule, name, getattr(owner, name)))
    function = torch.autograd.Function
    apply = _noting("autograd", "autograd.Function", vars(function)["apply"].__func__)
    setattr(function, "apply", classmethod(apply))  # noqa: B010  # mypy takes it for a method


def take() -> list[dict[str, Any]]:
    """Return what was noted since the last time: rule, name, and the line where there is one."""
    taken = [{"rule": rule, "name": name, "line": line} for (rule, name), line in _notes.items()]
    _notes.clear()
    return taken


def _note(rule: str, name: str, frame: FrameType | None) -> None:
    _notes.setdefault((rule, name), _line(frame))


def _line(frame: FrameType | None) -> int | None:
    """Return the line of the submission that a frame was called from, however far below."""
    while frame is not None:
        if frame.f_globals.get("__name__") == MODULE:
            return frame.f_lineno
        frame = frame.f_back
    return None


def _noting(rule: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def noted(*args: Any, **kwargs: Any) -> Any:
        _note(rule, name, sys._getframe(1))
        return function(*args, **kwargs)

    return noted
