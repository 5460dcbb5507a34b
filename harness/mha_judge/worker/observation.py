"""What a call did: functions and operators by name, floating-point operations, sizes.

Two watchers at once, because composite kernels hide from one of them: a torch-function mode sees
`F.scaled_dot_product_attention` before it decomposes, a dispatch mode sees the operators that do
the work, whoever called them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from mha_judge.wire.bounds import MAX_NAMES


class Observation:
    """Counts of one call."""

    def __init__(self) -> None:
        self.functions: Counter[str] = Counter()
        self.operators: Counter[str] = Counter()
        self.modules: Counter[str] = Counter()
        self.flops = 0
        self.largest_elements = 0
        self.written_elements = 0
        self.followed = 0
        """Operators that autograd records for a backward pass."""
        self.host_elements = 0
        """Numbers copied from a GPU to the CPU."""

    def as_fields(self) -> dict[str, Any]:
        return {
            "functions": dict(self.functions.most_common(MAX_NAMES)),
            "operators": dict(self.operators.most_common(MAX_NAMES)),
            "modules": dict(self.modules.most_common(MAX_NAMES)),
            "flops": self.flops,
            "largest_elements": self.largest_elements,
            "written_elements": self.written_elements,
            "followed": self.followed,
            "host_elements": self.host_elements,
        }


_OPERATORS = (torch._ops.OpOverload, torch._ops.OpOverloadPacket)


class _Functions(TorchFunctionMode):
    def __init__(self, seen: Observation) -> None:
        super().__init__()
        self._seen = seen

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        # an operator's `__name__` lacks its library
        name = str(func) if isinstance(func, _OPERATORS) else getattr(func, "__name__", func)
        result = func(*args, **(kwargs or {}))
        self._seen.functions[str(name)[:100]] += 1  # not if it raised
        return result


_WRITES_A_PART = frozenset(
    f"aten.{name}"
    for name in ("index_put_", "_index_put_impl_", "index_copy_", "scatter_", "index_fill_")
)


class _Operators(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch lacks the types
    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Say that nothing here is ever compiled: torch would import its compiler for that."""
        return False

    def __init__(self, seen: Observation) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch lacks the types
        self._seen = seen

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        seen = self._seen
        seen.followed += any(isinstance(arg, torch.Tensor) and arg.requires_grad for arg in args)
        result = func(*args, **(kwargs or {}))
        seen.operators[str(func.overloadpacket)[:100]] += 1
        count = flop_registry.get(func.overloadpacket)
        if count is not None:
            seen.flops += int(count(*args, **(kwargs or {}), out_val=result))
        if str(func.overloadpacket) in _WRITES_A_PART:  # it returns the whole tensor, not the part
            result_seen: Any = [arg for arg in args[1:] if isinstance(arg, torch.Tensor)]
        else:
            result_seen = result if isinstance(result, (list, tuple)) else [result]
        for tensor in result_seen:
            if isinstance(tensor, torch.Tensor) and not func.is_view:
                seen.largest_elements = max(seen.largest_elements, tensor.numel())
                seen.written_elements += tensor.numel()
        if any(_is_elsewhere(value) for value in args):
            made = result if isinstance(result, (list, tuple)) else [result]
            seen.host_elements += sum(
                one.numel() for one in made if isinstance(one, torch.Tensor) and one.is_cpu
            )
        return result


def _is_elsewhere(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and not value.is_cpu


@contextmanager
def watching() -> Iterator[Observation]:
    """Watch the calls made inside the block."""
    seen = Observation()

    def note_module(module: torch.nn.Module, args: Any) -> None:
        kind = type(module)
        origin = "torch." if kind.__module__.startswith("torch.") else ""
        seen.modules[origin + kind.__name__[:100]] += 1

    hook = torch.nn.modules.module.register_module_forward_pre_hook(note_module)
    try:
        with _Functions(seen), _Operators(seen):
            yield seen
    finally:
        hook.remove()
