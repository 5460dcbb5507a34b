"""A device that every machine has, in the place of a GPU: all but CUDA itself is the real thing.

`cpu` computes values. `meta` computes none, but refuses to mix with tensors on the CPU, as a GPU
does.
"""

from dataclasses import dataclass

from mha_judge.gpu import GpuAccess
from mha_judge.sandbox import SandboxOptions


@dataclass
class StandIn(GpuAccess):
    worker_device: str = "cpu"

    def _look(self):
        return None

    def _open(self):
        return SandboxOptions("jail").open()
