"""Many submissions in one channel, processes killed at any moment, and sources made at random."""

import gc
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from attacks.corpus import ATTACKS, RIGHT, SHORT, WRONG
from attacks.world import BANK, acting, resident
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sandboxes import BACKENDS, descendants, engine, gone

from mha_judge.errors import JudgeError, SandboxBroken, SubmissionUnreadable
from mha_judge.grading.expecting.memory import memory as remembered
from mha_judge.judge import grade
from mha_judge.sandbox.limits import Limits
from mha_judge.submission import Submission

pytestmark = pytest.mark.slow

COUNT = int(os.environ.get("MHA_JUDGE_MIXED_RUN", "150"))
QUICK = ["output-shape", "values"]
HOSTILE = [a for a in ATTACKS if a.kind in ("forgery", "escape", "channel", "persistence")]
FLATNESS = 96 << 20
"""What the judge's memory may grow by over a run; torch and the allocator keep some for reuse."""


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_mixed_run_keeps_verdicts_and_leaves_nothing(court, monkeypatch):
    if court.backend.name == "bubblewrap":
        pytest.skip("bubblewrap is around the supervisor only, and a run of it is the jail's")
    monkeypatch.setattr(remembered(), "_limit", 0)  # what is remembered has a bound of its own
    chance = random.Random(7)
    count = COUNT if court.backend.name == "jail" else COUNT // 3
    court.controls()
    running, open_files, memory = court.processes(), descriptors(), 0

    for number in range(count):
        if number == min(30, count // 3):  # what is kept for reuse is there by now
            gc.collect()
            memory = resident()
        kind = chance.choice(["right", "wrong", "hostile"])
        if kind == "hostile":
            attack = chance.choice(HOSTILE)
            expect = ("rejected", "error", "timeout", "crashed")
            text = court.world.placed(attack.text)
            limits = SHORT
        else:
            expect = ("accepted",) if kind == "right" else ("rejected",)
            text, limits = (RIGHT if kind == "right" else WRONG), Limits()
        report = court.grade(Submission.of(text, "sdpa.py"), limits, only=QUICK)
        if kind != "hostile" or "# no scale, no mask: wrong" in text:
            assert report.verdict in expect, (number, report.load_problem, report.checks)

    gc.collect()
    assert resident() - memory < FLATNESS
    assert descriptors() <= open_files
    assert not gone(lambda: court.processes() - running, court.processes() - running)
    assert court.world.signs(None) == []


BUSY = "import time\nwhile True:\n    time.sleep(0.001)\n"


def _kill(find: Callable[[], set[str]], chance: random.Random) -> None:
    for pid in sorted(find(), key=lambda _: chance.random())[:1]:
        with suppress(OSError):
            os.kill(int(pid), signal.SIGKILL)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: backend.name)
def test_a_process_killed_at_any_moment_is_a_typed_error_or_a_verdict(backend, seed):
    if reason := backend.why_not():
        pytest.skip(f"{backend.name}: {reason}")
    chance = random.Random(seed)
    before = backend.traces()
    channel = backend.make().open()
    channel.start(Limits())

    def strike():
        time.sleep(chance.random() * 0.6)
        if backend.name == "container":
            for identifier in backend.traces() - before:
                with suppress(Exception):  # it may have ended meanwhile
                    engine().kill(identifier)
        else:
            _kill(lambda: descendants() - before, chance)

    striker = threading.Thread(target=strike)
    striker.start()
    try:
        source = RIGHT if seed % 2 else RIGHT + BUSY
        limits = Limits(load_s=1.0, total_s=2.0)
        problem = BANK.problem("sdpa").model_copy(update={"limits": limits})
        report = grade(Submission.of(source, "sdpa.py"), BANK, problem, channel)
        assert report.verdict in ("accepted", "rejected", "timeout", "crashed")
    except JudgeError as error:
        assert isinstance(error, SandboxBroken)
    finally:
        striker.join()
        running = backend.traces() - before
        channel.close()
    assert not gone(backend.traces, running)


LINES = (RIGHT + WRONG).splitlines(keepends=True)
PIECES = st.sampled_from(
    [*LINES, "raise SystemExit\n", "import os\n", "del torch\n", "\t", "(", "]", "'''", "\\\n",
     "\x0c", "\ufeff", "é", "\u202e", "lambda: ", "return ", "yield\n", "async ", "f'{", "}", "0x"]
)  # fmt: skip
SOURCES = st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=80)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(SOURCES)
def test_a_mutated_source_gets_a_verdict(court, source):
    if not source.strip() or "\0" in source:
        return
    report = court.grade(Submission.of(source, "sdpa.py"), SHORT, only=["output-shape"])

    assert report.verdict in ("accepted", "rejected", "error", "timeout", "crashed")
    assert acting(report) == []


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=300) | st.builds(
    lambda head, cookie: head + b"# coding: " + cookie + b"\n",
    st.sampled_from([b"", b"\n", b"\xef\xbb\xbf", b"\x0c"]),
    st.sampled_from([b"utf-8", b"utf-8-sig", b"latin-1", b"hex", b"rot13", b"idna", b"\xff", b"x"])
    | st.binary(max_size=20),
))  # fmt: skip
def test_any_bytes_are_a_submission_or_are_refused(tmp_path, data):
    path = tmp_path / "sdpa.py"
    path.write_bytes(data)

    with suppress(SubmissionUnreadable):
        found = Submission.read(path)
        assert found.source.encode("utf-8")
