"""What a check may ask of a submission on a GPU.

What the worker says of devices and memory is evidence; time is taken by the judge's clock.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from mha_judge.grading.binding.arguments import Call
from mha_judge.grading.calling.candidate import context_of
from mha_judge.grading.calling.gpu import Gpu, lease_of
from mha_judge.grading.calling.session import Session
from mha_judge.grading.calling.target import Target
from mha_judge.grading.expecting.expected import leaves
from mha_judge.grading.failures import CheckFailure, NotAssessed
from mha_judge.submission import Submission
from mha_judge.wire.operations import Operation

MIB = 1024**2
_FUSED = """
from torch.nn.functional import scaled_dot_product_attention

def fused(q, k, v):
    return scaled_dot_product_attention(q, k, v)

def copied(x):
    return x.clone()
"""
_REPEATS = 7
_CARRIED_SHARE = 4
"""A call that brings more than a quarter of its first input to the CPU computes there."""
_SUSPICIOUS = 0.5
"""A call that takes less than this share of the time to read its inputs has not done its work."""


def explained(failure: CheckFailure) -> CheckFailure:
    """Return a failure on a GPU with the misconception in front, where torch's message shows it."""
    for pattern, misconception in _MISCONCEPTIONS:
        if pattern.search(failure.message):
            failure.detail = f"{failure.message}\n{failure.detail}".strip()
            failure.message = misconception
    return failure


_MISCONCEPTIONS = (
    (
        re.compile(
            r"same device|at least two devices|expected device|is on cpu|device type cpu|"
            r"but found device|found two different devices",
        ),
        "makes a tensor on the CPU although its inputs are on the GPU: create masks, tables and "
        "`arange` with `device=x.device`, and keep those of a layer in buffers",
    ),
    (
        re.compile(r"OutOfMemoryError|out of memory"),
        "runs out of GPU memory at a size that the contract allows",
    ),
)


def assert_stays_on_device(gpu: Gpu, target: Target, *args: Any) -> None:
    """Assert that a call's result is on the device of its inputs, and not computed on the CPU.

    Raises:
        CheckFailure: Naming what came from or went to the CPU.
    """
    seen = target.whereabouts(*args)
    facts = context_of(gpu).session.facts
    wanted = facts.name if facts is not None and not facts.cuda else "cuda"
    found = seen.devices or []
    if not found:
        raise CheckFailure("returns no tensor")
    away = [device for device in found if device != wanted]
    if away:
        raise CheckFailure(
            f"its answer is on the {away[0].upper()}, its inputs are on the GPU: a new tensor "
            "needs `device=x.device`, and nothing a `.cpu()`"
        )
    first = next(leaf for leaf in leaves(args) if isinstance(leaf, Tensor))
    if seen.observed is not None and seen.observed.host_elements * _CARRIED_SHARE > first.numel():
        raise CheckFailure(
            f"brings {seen.observed.host_elements} numbers to the CPU in the middle of the call: "
            "`.cpu()`, `.numpy()` and `.tolist()` wait for the GPU and compute without it"
        )


def assert_memory_grows_linearly(
    gpu: Gpu, target: Target, inputs: Callable[[int], Sequence[Any]], short: int
) -> None:
    """Assert that four times the length takes about four times the memory, and not sixteen.

    Args:
        gpu: The fixture.
        target: What is called.
        inputs: Returns the arguments of a call at a length.
        short: The shorter length.

    Raises:
        CheckFailure: With both amounts.
        NotAssessed: The device counts no memory.
    """
    if not counts_memory(gpu):
        raise NotAssessed("this device counts no memory")
    less, more = (target.peak_bytes(*inputs(length)) for length in (short, 4 * short))
    if more > 8 * max(less, MIB):
        raise CheckFailure(
            f"allocates {less / MIB:.1f} MiB at length {short} and {more / MIB:.1f} MiB at "
            f"{4 * short}: memory grows with the square of the length, as L × S scores do"
        )


def report_speed(
    gpu: Gpu,
    target: Target,
    sets: Sequence[Sequence[Tensor]],
    *,
    heads: Sequence[Sequence[Tensor]],
    sizes: Mapping[str, Any] | None = None,
) -> None:
    """Note how a call's time compares, and reject an impossible time.

    Args:
        gpu: The fixture.
        target: What is called.
        sets: Arguments of several calls.
        heads: Queries, keys and values (B, H, L, D) of the same sizes, for fused attention.
        sizes: What the reference's class is made with; None if it is a function.

    Raises:
        CheckFailure: The call took less than half the time that reading its inputs takes.
    """
    own = seconds(gpu, target, sets)  # first: the others end the worker that has the layer
    reference = seconds_of_reference(gpu, target.entry.name, sets, sizes)
    fused = seconds_of(gpu, "fused", heads)
    inputs = [leaf for leaf in leaves(sets[0]) if isinstance(leaf, Tensor)]
    block = max(inputs, key=lambda leaf: leaf.numel())
    copy = seconds_of(gpu, "copied", [[block + index] for index in range(len(sets))])
    # a copy reads and writes; a call must at least read
    least = copy * sum(leaf.nbytes for leaf in inputs) / (2 * block.nbytes)
    context_of(gpu).note(
        f"GPU time of a call: {own / reference:.2f} × the plain reference's, "
        f"{own / fused:.2f} × fused attention's"
    )
    if own < _SUSPICIOUS * least:
        raise CheckFailure(
            f"answers in {own * 1e6:.0f} µs, less than reading its inputs takes "
            f"({least * 1e6:.0f} µs): the work is not done, or not in the call"
        )


def counts_memory(gpu: Gpu) -> bool:
    """Return whether the device has counters of what is allocated."""
    facts = context_of(gpu).session.facts
    return facts is not None and facts.memory_bytes > 0


def seconds(gpu: Gpu, target: Target, sets: Sequence[Sequence[Tensor]]) -> float:
    """Return the seconds of one call, as the judge's clock shows them."""
    calls = [target.bound(args) for args in sets]
    return _seconds(context_of(gpu).session, calls[0][0], [call for _, call in calls])


def seconds_of_reference(
    gpu: Gpu, entry: str, sets: Sequence[Sequence[Tensor]], sizes: Mapping[str, Any] | None = None
) -> float:
    """Return the seconds of one call of the plain reference."""

    def run(session: Session) -> float:
        where: str | int = entry
        if sizes is not None:
            where = session.request(Operation.NEW, ([], dict(sizes)), name=entry).handle
        return _seconds(session, where, [(list(args), {}) for args in sets])

    reference = Path(str(context_of(gpu).task.reference.__file__))
    return _beside(gpu, Submission.read(reference), run)


def seconds_of(gpu: Gpu, name: str, sets: Sequence[Sequence[Tensor]]) -> float:
    """Return the seconds of one call of PyTorch's `fused` attention, or of a copy, `copied`."""
    calls: list[Call] = [(list(args), {}) for args in sets]
    fused = Submission.of(_FUSED, "fused.py")
    return _beside(gpu, fused, lambda session: _seconds(session, name, calls))


def _beside(gpu: Gpu, submission: Submission, run: Callable[[Session], float]) -> float:
    """Run the judge's own program on the device, in a worker of its own."""
    context_of(gpu).session.close()  # it starts again when it is asked again
    session = lease_of(gpu).session_of(submission)
    try:
        session.load()
        return run(session)
    finally:
        session.close()


def _seconds(session: Session, target: str | int, calls: Sequence[Call]) -> float:
    """Return the median seconds of a call, without what a request takes by itself.

    A run makes one call on each set of inputs, and fetches one number at its end. The time of a run
    on all sets minus that of a run on one, divided by the additional calls, is the time of a call.
    """
    session.request(Operation.HOLD, [list(call) for call in calls])

    def run(count: int) -> float:
        session.request(Operation.SHAKE)
        started = time.perf_counter()
        session.request(Operation.REPEAT, target=target, count=count)
        return time.perf_counter() - started

    for _ in range(2):
        run(len(calls))
    times = [(run(len(calls)) - run(1)) / (len(calls) - 1) for _ in range(_REPEATS)]
    return max(statistics.median(times), 1e-9)
