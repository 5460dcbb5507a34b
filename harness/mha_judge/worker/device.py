"""The device on which a worker calls the submission: the CPU, or a GPU that it takes for itself.

A worker takes its GPU after the fork and after it was confined, because CUDA does not survive a
fork; memory that the submission holds there is freed with the process. What a worker reports of
devices and memory is, like all its reports, evidence and not proof.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch

from mha_judge.wire import map_tree

_SHAKE = 1.0009765625
"""Changes inputs by a thousandth; exact in every format, so that a shaken tensor stays finite."""


class Device:
    """Where tensors are put before a call. Until `take`, they stay on the CPU."""

    def __init__(self) -> None:
        self._device: torch.device | None = None

    def take(self, name: str, memory_bytes: int) -> dict[str, Any]:
        """Take a device by torch's name for it and say what it is.

        Args:
            name: `cuda`; tests take `cpu` or `meta` in its place.
            memory_bytes: What the submission may allocate on it; the allocator enforces it.

        Raises:
            RuntimeError: If torch cannot use the device; torch's message says why.
        """
        device = torch.device(name)
        facts = {"name": name, "memory_bytes": 0, "free_bytes": 0, "cuda": ""}
        if device.type == "cuda":
            torch.set_float32_matmul_precision("highest")  # no TF32
            torch.backends.cudnn.allow_tf32 = False
            torch.ones(8, device=device).sum().item()  # makes a context, and proves that it works
            device = torch.device("cuda", torch.cuda.current_device())  # the limit needs its index
            free, total = torch.cuda.mem_get_info(device)
            torch.cuda.set_per_process_memory_fraction(min(1.0, memory_bytes / total), device)
            facts = {
                "name": torch.cuda.get_device_name(device)[:100],
                "memory_bytes": total,
                "free_bytes": free,
                "cuda": str(torch.version.cuda),
            }
        self._device = device
        return facts

    def moved(self, tree: Any) -> Any:
        """Return a tree with its tensors on the device; a tensor given twice is moved once."""
        if self._device is None:
            return tree
        seen: dict[int, torch.Tensor] = {}

        def move(leaf: Any) -> Any:
            if not isinstance(leaf, torch.Tensor):
                return leaf
            if id(leaf) not in seen:
                seen[id(leaf)] = leaf.to(self._device)
            return seen[id(leaf)]

        return map_tree(move, tree)

    def receive(self, module: torch.nn.Module) -> None:
        """Move a module: its parameters and buffers, as `model.to(device)` does, and no more."""
        if self._device is not None:
            module.to(self._device)

    def settle(self) -> None:
        """Wait for all kernels, so that an error is raised in the call that caused it."""
        if self._device is not None and self._device.type == "cuda":
            torch.cuda.synchronize(self._device)

    def recover(self) -> None:
        """Free the memory that a failed call has left in the allocator."""
        with contextlib.suppress(Exception):  # after an illegal access nothing works any more
            if self._device is not None and self._device.type == "cuda":
                torch.cuda.empty_cache()

    def peak_of(self, call: Callable[[], Any]) -> tuple[Any, int]:
        """Return a call's result, and the peak of the bytes that it allocates itself.

        Raises:
            RuntimeError: If the device counts no memory.
        """
        if self._device is None or self._device.type != "cuda":
            raise RuntimeError("this device counts no memory")
        torch.cuda.synchronize(self._device)
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(self._device)
        before = torch.cuda.memory_allocated(self._device)
        result = call()
        torch.cuda.synchronize(self._device)
        return result, max(0, torch.cuda.max_memory_allocated(self._device) - before)


class Sets:
    """Several sets of inputs that stay on the device while calls on them are timed.

    The judge holds the clock. Each call of a run has its own set, and the sets change between runs,
    so that a result kept from an earlier call is wrong.
    """

    def __init__(self) -> None:
        self._sets: list[tuple[Any, dict[str, Any]]] = []

    def hold(self, sets: list[tuple[Any, dict[str, Any]]]) -> None:
        self._sets = sets

    def shake(self) -> None:
        """Change all floating-point inputs a little, in place."""
        for args, kwargs in self._sets:
            for value in (*args, *kwargs.values()):
                if isinstance(value, torch.Tensor) and value.is_floating_point():
                    value.mul_(_SHAKE)

    def run(self, target: Any, count: int) -> float:
        """Call `target` on each of the first `count` sets; return the sum of the last result."""
        last: Any = None
        with torch.no_grad():
            for args, kwargs in self._sets[:count]:
                last = target(*args, **kwargs)
            while isinstance(last, (tuple, list)) and last:
                last = last[0]
            return float(last.float().sum()) if isinstance(last, torch.Tensor) else 0.0


def devices_of(tree: Any) -> list[str]:
    """Return the device types of the tensors in a result, in order."""
    if isinstance(tree, torch.Tensor):
        return [str(tree.device.type)]
    if isinstance(tree, dict):
        return devices_of(list(tree.values()))
    if isinstance(tree, (list, tuple)):
        return [device for item in tree[:100] for device in devices_of(item)]
    return []
