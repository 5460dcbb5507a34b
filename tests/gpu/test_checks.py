"""Checks on a GPU, run on devices that stand in for one, and what is said where there is none."""

import re
from contextlib import closing

import pytest
from gate import drawn_with
from tests.gpu.stand_in import StandIn

from mha_judge.bank import Bank
from mha_judge.errors import SandboxUnavailable
from mha_judge.gpu import GpuAccess
from mha_judge.grading.checks.collected import check_id, collect
from mha_judge.judge import grade
from mha_judge.outcomes import Category, Outcome, Verdict
from mha_judge.sandbox import SandboxOptions
from mha_judge.submission import Submission

pytestmark = pytest.mark.slow

BANK = Bank.builtin()
PROBLEMS = [
    "sdpa", "split-merge-heads", "masked-mha", "gqa", "kv-cache-step", "mla", "flash-attention",
    "sliding-window", "linear-attention", "rope", "alibi",
]  # fmt: skip
QUICK = ("gpu-float32", "gpu-half", "gpu-values", "gpu-device")
"""Those that a stand-in can assess, without the one that takes time on purpose."""


@pytest.fixture(scope="module")
def channel():
    with closing(SandboxOptions("jail").open()) as opened:
        yield opened


@pytest.fixture(scope="module")
def cpu():
    with closing(StandIn(worker_device="cpu")) as gpus:
        yield gpus


@pytest.fixture(scope="module")
def meta():
    with closing(StandIn(worker_device="meta")) as gpus:
        yield gpus


def graded(problem, source, channel, gpus, only=QUICK):
    """Grade an answer by those of some checks that its problem has."""
    submission = Submission.of(source, "answer.py")
    asked = {check_id(item) for item in collect(str(BANK.grader(problem))).items}.intersection(only)
    return grade(submission, BANK, BANK.problem(problem), channel, seed=1, only=asked, gpus=gpus)


def source_of(problem):
    return BANK.reference(problem).read_text(encoding="utf-8")


def mistakes(problem):
    return {m.id: m for m in BANK.mistakes(problem) if m.device == "cuda"}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_reference_passes_on_the_device(problem, channel, cpu):
    report = graded(problem, source_of(problem), channel, cpu)

    assert report.verdict is Verdict.ACCEPTED
    assert {check.category for check in report.checks} == {Category.GPU}
    assert all(check.max_points > 0 for check in report.checks)
    assert report.no_gpu == ""


def right_answers():
    """Return all right answers to these problems, of which a part is drawn."""
    for problem in PROBLEMS:
        for path in sorted((BANK.root / "tests" / "submissions" / problem).glob("right_*.py")):
            yield pytest.param(problem, path, marks=drawn_with(path), id=f"{problem}/{path.stem}")


@pytest.mark.parametrize(("problem", "path"), list(right_answers()))
def test_right_answers_compute_the_same_there(problem, path, channel, cpu):
    only = ("gpu-float32", "gpu-half", "gpu-values")

    report = graded(problem, path.read_text(encoding="utf-8"), channel, cpu, only)

    assert report.score == 100, report.checks


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_tensor_on_the_cpu_is_named(problem, channel, meta):
    [(name, mistake)] = [
        (name, m) for name, m in mistakes(problem).items() if name.endswith("on-the-cpu")
    ]
    report = graded(problem, mistake.source, channel, meta, ("gpu-device",))
    [check] = report.checks

    assert check.outcome.is_bad
    if problem != "split-merge-heads":  # this device has no values that could be brought over
        assert "CPU" in check.message
        assert [found.id for found in report.diagnoses] == [name]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_reference_mixes_no_devices(problem, channel, meta):
    report = graded(problem, source_of(problem), channel, meta, ("gpu-device",))

    assert report.score == 100, report.checks


@pytest.mark.parametrize("problem", PROBLEMS)
def test_half_precision_behind_the_callers_back_is_killed(problem, channel, cpu):
    mistake = mistakes(problem)["gpu-rounds-to-half"]
    source = mistake.source
    assert source.count(".is_cuda") == 1
    source = source.replace("x.is_cuda", "True")

    report = graded(problem, source, channel, cpu, (mistake.killed_by,))

    assert report.checks[0].outcome is Outcome.FAILED
    assert report.checks[0].margin is not None and report.checks[0].margin > 10


def test_a_mistake_of_the_gpu_is_right_on_a_cpu(channel):
    for mistake in mistakes("sdpa").values():
        report = graded("sdpa", mistake.source, channel, None, ())

        assert report.score == 100, mistake.id


def test_without_a_device_every_check_on_it_is_not_assessed_and_costs_nothing(channel, monkeypatch):
    monkeypatch.setattr("mha_judge.gpu.presence._DRIVER", BANK.root / "no such node")
    report = graded("sdpa", source_of("sdpa"), channel, GpuAccess(), ())
    checks = [check for check in report.checks if check.category is Category.GPU]

    assert len(checks) == 4 and report.without_gpu == checks
    assert all(check.outcome is Outcome.NOT_ASSESSED for check in checks)
    assert all(check.max_points == check.points == 0 for check in checks)
    assert all(check.message.startswith("no CUDA device") for check in checks)
    assert report.score == 100 and report.verdict is Verdict.ACCEPTED
    assert report.device == "cpu"


def test_a_device_that_was_asked_for_by_name_must_be_there(monkeypatch):
    monkeypatch.setattr("mha_judge.gpu.presence._DRIVER", BANK.root / "no such node")
    with pytest.raises(SandboxUnavailable, match=r"no CUDA device: .* install NVIDIA's driver"):
        GpuAccess(SandboxOptions(device="cuda")).require()
    GpuAccess(SandboxOptions(device="auto")).require()
    assert GpuAccess(SandboxOptions(device="cpu")).why_not() == "--device cpu"


def test_a_device_that_cannot_be_taken_is_a_reason_or_an_error(channel):
    unreachable = StandIn(worker_device="cuda")  # this torch has no CUDA, or no device
    with closing(unreachable) as gpus:
        report = graded("sdpa", source_of("sdpa"), channel, gpus, ())
    if report.no_gpu == "":
        pytest.skip("there is a GPU here")
    assert report.no_gpu.startswith("the GPU cannot be used: raises ")
    assert report.score == 100

    wanted = StandIn(SandboxOptions(device="cuda"), worker_device="cuda")
    with closing(wanted) as gpus, pytest.raises(SandboxUnavailable, match="--device cuda: "):
        graded("sdpa", source_of("sdpa"), channel, gpus, ())


LOST = """
import torch
calls = 0

def scaled_dot_product_attention(q, k, v, mask=None):
    global calls
    calls += 1
    if calls == 2:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")
    weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5)
    if mask is not None:
        weights = weights.masked_fill(mask == 0, float("-inf"))
    weights = weights.softmax(-1)
    return weights @ v, weights
"""


def test_a_lost_device_ends_the_check_and_not_the_grade(channel, cpu):
    """The process that lost it is replaced: no later check pays for it."""
    report = graded("sdpa", LOST, channel, cpu, ("gpu-device", "gpu-values"))
    whole = graded("sdpa", LOST, channel, cpu, ("gpu-float32", "gpu-half"))

    assert [c.outcome for c in report.checks] == [Outcome.ERROR]
    assert "illegal memory access" in report.checks[0].message
    assert [c.outcome for c in whole.checks] == [Outcome.ERROR, Outcome.NOT_ASSESSED]


def test_running_out_of_memory_is_named(channel, cpu):
    source = source_of("sdpa").replace(
        "    scores = q @",
        '    raise torch.OutOfMemoryError("CUDA out of memory")\n    scores = q @',
    )
    report = graded("sdpa", source, channel, cpu, ("gpu-float32",))

    assert report.checks[0].message.startswith("runs out of GPU memory")
    assert "OutOfMemoryError" in report.checks[0].detail


@pytest.mark.parametrize(("own", "flagged"), [(1e-6, True), (1e-3, False)])
def test_a_call_that_takes_less_than_reading_its_inputs_is_flagged(
    own, flagged, channel, cpu, monkeypatch
):
    took = iter([own, 2e-3, 1e-3, 1e-4])  # the call, the reference, fused attention, a copy
    monkeypatch.setattr("mha_judge.grading.checks.gpu._seconds", lambda *args: next(took))

    # a layer, as functions are timed in float16, in which a CPU takes longer still
    report = graded("masked-mha", source_of("masked-mha"), channel, cpu, ("gpu-speed", "values"))
    speed = next(check for check in report.checks if check.id == "gpu-speed")

    assert speed.advisory
    assert ("less than reading its inputs takes" in speed.message) is flagged
    assert any(note.startswith("GPU time of a call: ") for note in report.notes)


def test_what_a_call_takes_is_measured(channel, cpu, monkeypatch):
    monkeypatch.setattr("mha_judge.grading.checks.gpu._REPEATS", 1)  # a CPU takes long for more
    # a layer, as functions are timed in float16, in which a CPU takes longer still
    report = graded("masked-mha", source_of("masked-mha"), channel, cpu, ("gpu-speed", "values"))

    [note] = [note for note in report.notes if note.startswith("GPU time of a call: ")]
    assert re.search(r"[\d.]+ × the plain reference's, [\d.]+ × fused attention's", note)


def test_an_answer_that_was_kept_is_not_given_again(channel, cpu):
    """Inputs that are timed change between runs: the same tensors, other numbers."""
    from mha_judge.grading.calling.session import Session

    source = "kept = []\ndef first(x):\n    kept.append(float(x[0]))\n    return x\n"
    submission = Submission.of(source, "answer.py")
    limits = BANK.problem("sdpa").limits
    import torch

    with closing(Session(cpu.channel(), submission, limits, "cpu")) as session:
        session.load()
        session.request("hold", [([torch.ones(3)], {}), ([torch.ones(3)], {})])
        values = []
        for _ in range(3):
            session.request("shake")
            values.append(session.request("repeat", target="first", count=2).value)

    assert values[0] < values[1] < values[2]
