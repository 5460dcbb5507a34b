"""What must work in the jail with torch: confines itself, obeys, and writes what came of it."""

import importlib
import json
import os
import sys
import threading

import torch

from mha_judge.worker import confinement
from mha_judge.worker.confinement import Bounds

BOUNDS = Bounds(memory_bytes=8 << 30, cpu_s=60, file_bytes=1 << 20, open_files=64, threads=16)


def matmul() -> float:
    torch.set_num_threads(2)
    a = torch.ones(601, 601)
    return float((a @ a).softmax(-1).sum())


def autograd() -> float:
    a = torch.ones(7, 11, requires_grad=True)
    torch.einsum("ij,kj->ik", a, a).sum().backward()
    return float(a.grad.sum())


def bfloat16() -> float:
    a = torch.ones(101, 101, dtype=torch.bfloat16)
    return float((a @ a).sum())


def linear_algebra() -> float:
    return float(torch.linalg.svd(torch.eye(13)).S.sum())


def many_python_threads() -> int:
    results: list[float] = []
    threads = [threading.Thread(target=lambda: results.append(matmul())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(results)


def late_imports() -> str:
    for name in ("torch.optim", "torch.utils.flop_counter", "sympy", "torch._dynamo"):
        importlib.import_module(name)
    return "imported"


def optimise() -> str:
    layer = torch.nn.MultiheadAttention(12, 3)
    x = torch.ones(5, 2, 12)
    layer(x, x, x)[0].sum().backward()
    torch.optim.AdamW(layer.parameters()).step()
    return "stepped"


ATTEMPTS = {
    function.__name__: function
    for function in (
        matmul,
        autograd,
        bfloat16,
        linear_algebra,
        many_python_threads,
        late_imports,
        optimise,
    )
}

if __name__ == "__main__":
    assert confinement.unavailable() is None  # and what it needs is imported now
    confinement.confine(BOUNDS, [1, 2], os.getppid())
    sys.stdout.write(json.dumps(ATTEMPTS[sys.argv[1]]()))
