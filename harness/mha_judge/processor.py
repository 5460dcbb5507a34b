"""The instruction set that judge and workers compute with: the same on every processor.

Libraries of numbers choose their kernels by what the processor offers, and kernels differ: in the
last bits of a sum, and where one has a bug, in whether a NaN stays in its row. A verdict must not
depend on that, so all of them are held to AVX2, which every x86-64 processor of the last ten years
has.
"""

from __future__ import annotations

import os
from pathlib import Path

_AVX2 = {
    "ONEDNN_MAX_CPU_ISA": "AVX2",  # linear maps and more in bfloat16 and float16
    "ATEN_CPU_CAPABILITY": "avx2",  # torch's own kernels
    "MKL_CBWR": "AVX2",  # matrix products: the same sums on every processor
    "OPENBLAS_CORETYPE": "Haswell",  # NumPy's matrix products
}
_CPUINFO = Path("/proc/cpuinfo")
_FIRST_PROCESSOR_BYTES = 8192


def variables() -> dict[str, str]:
    """Return the environment variables that hold torch and NumPy to AVX2.

    Empty where the processor lacks it: kernels that were forced there would crash. On such a
    machine, and on another architecture, the libraries choose for themselves.
    """
    return _AVX2 if "avx2" in _features() else {}


def hold_instruction_set() -> None:
    """Hold this process, and those that it starts, to the common instruction set.

    The libraries look once, at their first computation, so this must come before it.
    """
    os.environ.update(variables())


def _features() -> list[str]:
    try:
        with _CPUINFO.open(encoding="ascii", errors="replace") as file:
            lines = file.read(_FIRST_PROCESSOR_BYTES).splitlines()
    except OSError:
        return []
    return next((line.split() for line in lines if line.startswith("flags")), [])
