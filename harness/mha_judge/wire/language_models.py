"""Language models for answers that take one: both sides make them of tensors.

A tensor (A₁, …, Aₙ, V) is a model whose logits depend on the last n tokens: they stand in the row
at these tokens, each modulo its axis. Before the first token there are zeros.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

Model = Callable[["Tensor"], "Tensor"]


def with_language_models(function: Callable[..., Any], places: Collection[str]) -> Any:
    """Return a function that takes tensors in place of the language models that another takes.

    Its first result is the size (N, T) of the prefixes in each call of a model, as a tensor of
    int64, (calls, 2). The results of the other follow.

    Args:
        function: What takes the models.
        places: Indices and keywords of these arguments.
    """
    import torch

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        calls: list[tuple[int, ...]] = []

        def given(place: object, value: Any) -> Any:
            is_model = str(place) in places and isinstance(value, torch.Tensor)
            return _language_model(value, calls) if is_model else value

        result = function(
            *[given(index, value) for index, value in enumerate(args)],
            **{name: given(name, value) for name, value in kwargs.items()},
        )
        own = result if isinstance(result, (tuple, list)) else (result,)
        return (torch.tensor(calls, dtype=torch.int64).reshape(-1, 2), *own)

    return call


def _language_model(table: Tensor, calls: list[tuple[int, ...]]) -> Model:
    """Return a function from prefixes (N, T) to logits (N, V), which notes its calls."""
    import torch

    def score(prefixes: Tensor) -> Tensor:
        if not isinstance(prefixes, torch.Tensor) or prefixes.dim() != 2 or not prefixes.numel():
            told = getattr(prefixes, "shape", type(prefixes).__name__)
            raise ValueError(f"prefixes are token ids (N, T) in a tensor, not {told}")
        if prefixes.dtype not in (torch.int64, torch.int32):
            raise ValueError(f"token ids are int64, not {prefixes.dtype}")
        if bool((prefixes < 0).any() or (prefixes >= table.shape[-1]).any()):
            raise ValueError(f"token ids go from 0 to {table.shape[-1] - 1}")
        calls.append(tuple(prefixes.shape))
        reach = table.dim() - 1
        padded = torch.nn.functional.pad(prefixes, (reach, 0))  # (N, n + T)
        last = padded[:, padded.shape[1] - reach :].long().unbind(1)  # n of (N,)
        row = [token % size for token, size in zip(last, table.shape[:-1], strict=True)]
        logits = table.detach()[tuple(row)] if row else table.detach().repeat(len(prefixes), 1)
        return logits.contiguous()  # (N, V)

    return score
