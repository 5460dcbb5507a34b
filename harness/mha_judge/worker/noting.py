"""Notes each use of ready-made attention and of autograd, with its line, under any name.

The notes are taken in torch's dispatcher, so it does not matter how an operator is reached, and in
every request, not only in observed ones. The operator then runs as usual. A name in the source that
never runs is not noted. If ready-made attention was taken away, it raises instead, so that a file
that can do without it takes its own path.
"""

import functools
import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
import torch.nn.functional

from mha_judge.worker.submission import MODULE

_FUSED, _AUTOGRAD = "fused-attention", "autograd"
_COMPOSITE = ("AutogradCPU", "CPU", "AutogradCUDA", "CUDA")
"""The dispatch keys of an operator made of others; without autograd its backend's key counts."""
_OPERATORS = (
    (_FUSED, "scaled_dot_product_attention", _COMPOSITE),
    (_FUSED, "_scaled_dot_product_attention_math", _COMPOSITE),
    (_FUSED, "_scaled_dot_product_flash_attention_for_cpu", ("CPU",)),
    (_FUSED, "_native_multi_head_attention", ("CPU",)),
    (_FUSED, "_transformer_encoder_layer_fwd", ("CPU",)),
    (_AUTOGRAD, "_softmax_backward_data", ("CPU",)),
)
_notes: dict[str, tuple[str, int | None]] = {}
_away: set[str] = set()
"""Rules whose operators raise."""
# What it registers lasts as long as it does; torch lacks its types.
_library: Any = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]


def install() -> None:
    """Begin to note, in this process and its forks, for good."""
    kernels = [
        (rule, name, key, torch.library.get_kernel(f"aten::{name}", key))
        for rule, name, keys in _OPERATORS
        for key in keys
    ]  # all of them first: registering one changes what another key returns
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of what is overridden
        for rule, name, key, kernel in kernels:
            _library.impl(name, _noting(rule, name, kernel.call_boxed), key, with_keyset=True)
    name = "multi_head_attention_forward"  # Python, not an operator
    function = getattr(torch.nn.functional, name)
    noted = functools.update_wrapper(_noting(_FUSED, name, function), function)
    del noted.__wrapped__  # a way around it
    setattr(torch.nn.functional, name, noted)


def take_fused_attention_away() -> None:
    """Let ready-made attention raise, and let torch look as if it had none, in this process."""
    _away.add(_FUSED)
    del torch.nn.functional.scaled_dot_product_attention


def take() -> list[dict[str, Any]]:
    """Return what was noted since the last call: rule, name, and the line or None."""
    taken = [{"rule": rule, "name": name, "line": line} for name, (rule, line) in _notes.items()]
    _notes.clear()
    return taken


def _noting(rule: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def noted(*args: Any, **kwargs: Any) -> Any:
        if rule in _away:
            raise RuntimeError(f"{name} is not there: the problem asks for attention from scratch")
        _notes.setdefault(name, (rule, _line(sys._getframe(1))))
        return function(*args, **kwargs)

    return noted


def _line(frame: FrameType | None) -> int | None:
    """Return the line of the innermost frame of the submission, from `frame` outwards, or None."""
    while frame is not None:
        if frame.f_globals.get("__name__") == MODULE:
            return frame.f_lineno
        frame = frame.f_back
    return None
