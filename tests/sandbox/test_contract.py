"""The contract of a sandbox, tried on every backend that works here."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from sandboxes import LIMITS, ask, attempt, containers, gone, load, value_after

from mha_judge.bank import Bank
from mha_judge.errors import SandboxBroken
from mha_judge.judge import grade
from mha_judge.sandbox import Ended, Reply
from mha_judge.sandbox import channel as channel_module
from mha_judge.submission import Submission
from mha_judge.wire import encode_frame

pytestmark = pytest.mark.slow

BANK = Bank.builtin()
BUSY = "import time\nstart = time.process_time()\nwhile time.process_time() - start < {}: pass"


TIERS = {
    "jail": ("jail", "landlock+seccomp+rlimits"),
    "bubblewrap": ("jail", "bubblewrap+landlock+seccomp+rlimits"),
    "namespaces": ("jail", "bubblewrap+seccomp+rlimits"),
    "container": ("container", "docker+landlock+seccomp+rlimits"),
}


def test_a_tier_names_the_layers_that_hold(backend, channel):
    tier = channel.start(LIMITS)

    assert (tier.backend, tier.tier) == TIERS[backend.name]
    assert tier.details["no_new_privs"] is True
    assert tier.details["seccomp"] is True
    assert tier.details["capabilities"] == "none"


def test_a_request_is_answered_and_state_lasts_until_the_next_start(channel):
    assert value_after(channel, "RESULT = 6 * 7") == 42

    channel.start(LIMITS)
    reply = ask(channel, "read", name="RESULT")

    assert isinstance(reply, Reply)
    assert "raised" in reply.header


@pytest.mark.parametrize("killed", [7, 8])
def test_a_worker_that_is_killed_for_memory_has_not_crashed(backend, killed, monkeypatch, tmp_path):
    def runs_out():
        vmstat.write_text(f"pgpgin 1\noom_kill {killed}\n", encoding="utf-8")

    vmstat = tmp_path / "vmstat"
    vmstat.write_text("pgpgin 1\noom_kill 7\n", encoding="utf-8")
    monkeypatch.setattr(channel_module, "_VMSTAT", vmstat)
    source = "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"

    with closing(backend.make().open()) as opened:
        opened.start(LIMITS.model_copy(update={"cpu_s": 1}))
        asked = {
            "op": "load",
            "source": source,
            "filename": "answer.py",
            "value": ["none"],
            "id": 1,
        }
        opened.ask(encode_frame(asked), 20.0)
        runs_out()
        if killed == 7:
            ended = opened.answer()
            assert (ended.reason, ended.signal) == ("exited", signal.SIGKILL)
        else:
            with pytest.raises(SandboxBroken, match="memory ran out"):
                opened.answer()


def test_stop_says_what_was_used_and_printed(channel):
    value_after(channel, "RESULT = 1\nprint('hello')\nimport sys\nsys.stderr.write('oh')")

    ended = channel.stop()

    assert (ended.reason, "hello" in ended.output, "oh" in ended.output) == ("stopped", True, True)
    assert ended.cpu_s > 0
    assert ended.peak_memory_bytes > 10 * 1024**2


@pytest.mark.parametrize(
    ("source", "exit_code", "signals"),
    [
        ("import os\nos._exit(7)", 7, {None}),
        ("import os\nos._exit(0)", 0, {None}),
        ("import ctypes\nctypes.string_at(0)", None, {signal.SIGSEGV}),
        ("import os\nos.abort()", None, {signal.SIGABRT}),
    ],
    ids=["exit 7", "exit 0", "segfault", "abort"],
)
def test_a_crash_is_returned_and_the_next_start_works(channel, source, exit_code, signals):
    channel.start(LIMITS)

    ended = load(channel, source)

    assert isinstance(ended, Ended)
    assert (ended.reason, ended.exit_code) == ("exited", exit_code)
    assert ended.signal in signals
    assert value_after(channel, "RESULT = 'next'") == "next"


@pytest.mark.parametrize(
    "source", ["while True: pass", "import time\ntime.sleep(1000)",
               "import signal\nsignal.pthread_sigmask(0, range(1, 32))\nwhile True: pass"],
    ids=["busy", "asleep", "deaf"],
)  # fmt: skip
def test_a_timeout_is_returned_and_the_next_start_works(channel, source):
    channel.start(LIMITS)

    ended = load(channel, source, timeout_s=0.4)

    assert isinstance(ended, Ended)
    assert ended.reason == "timeout"
    assert value_after(channel, "RESULT = 'next'") == "next"


def test_an_answer_says_how_long_it_took_however_late_it_is_read(channel):
    channel.start(LIMITS)

    loaded = load(channel, "import time\ntime.sleep(0.3)")
    header = {"id": 2, "op": "read", "value": ["none"], "name": "time"}
    channel.ask(encode_frame(header), 0.2)
    time.sleep(0.5)
    late = channel.answer()

    assert isinstance(loaded, Reply)
    assert 0.3 <= loaded.worked_s < 5
    assert isinstance(late, Reply)
    assert late.worked_s < 0.3


def test_on_a_busy_machine_no_answer_runs_out_of_time(channel):
    channel.start(LIMITS)
    others = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(4 * os.cpu_count())
    ]
    try:
        time.sleep(0.3)
        loaded = load(channel, BUSY.format(0.5), timeout_s=0.9)
    finally:
        for other in others:
            other.kill()
            other.wait()

    assert isinstance(loaded, Reply)
    assert loaded.worked_s < 0.9


def test_an_answer_says_what_it_took_of_the_processor(channel):
    channel.start(LIMITS)
    busy = BUSY.format(0.2)

    slept = load(channel, "import time\ntime.sleep(0.3)")
    computed = load(channel, busy)

    assert isinstance(slept, Reply)
    assert isinstance(computed, Reply)
    assert slept.computed_s < 0.2
    assert 0.15 < computed.computed_s < 5


def test_requests_after_an_end_are_answered_with_an_end(channel):
    channel.start(LIMITS)
    channel.stop()

    ended = ask(channel, "read", name="RESULT")

    assert isinstance(ended, Ended)
    assert ended.reason == "no worker"


@pytest.mark.parametrize("size", [1, 30_000, 3_000_000])
def test_what_is_asked_ahead_is_answered_in_turn(channel, size):
    channel.start(LIMITS)
    load(channel, f"import time\nRESULT = 'x' * {size}\ntime.sleep(0.2)")
    frames = [
        encode_frame({"id": number, "op": "read", "value": ["none"], "name": name})
        for number, name in enumerate(["RESULT", "time", "RESULT", "RESULT", "missing"], 2)
    ]
    header = {"id": 7, "op": "read", "value": ["none"], "name": "RESULT"}
    large = encode_frame(header, bytes(size))

    for frame in [*frames, large, frames[0]]:
        channel.ask(frame, 5.0)
    answers = [channel.answer() for _ in range(7)]

    assert [one.header["id"] for one in answers] == [2, 3, 4, 5, 6, 7, 2]
    assert "raised" in answers[4].header
    assert value_after(channel, "RESULT = 'next'") == "next"


def test_what_came_before_a_hang_is_answered_though_a_large_question_waited(channel):
    channel.start(LIMITS)
    load(channel, "RESULT = 1")
    hangs = {"op": "load", "source": "import time\ntime.sleep(20)", "filename": "answer.py"}
    read = {"op": "read", "value": ["none"], "name": "RESULT"}
    channel.ask(encode_frame({**read, "id": 2}), 5.0)
    channel.ask(encode_frame({**hangs, "value": ["none"], "id": 3}), 0.3)
    channel.ask(encode_frame({**read, "id": 4}, bytes(3_000_000)), 5.0)

    before, ended = channel.answer(), channel.answer()

    assert before.header["id"] == 2
    assert ended.reason == "timeout"
    assert value_after(channel, "RESULT = 'next'") == "next"


@pytest.mark.parametrize("reason", ["exited", "timeout"])
def test_what_was_asked_after_an_end_is_forgotten(channel, reason):
    channel.start(LIMITS)
    last = {"exited": "import os\nos._exit(3)", "timeout": "import time\ntime.sleep(20)"}[reason]
    asked = {"id": 1, "op": "load", "value": ["none"], "source": last, "filename": "answer.py"}
    for number in (1, 2, 3):
        channel.ask(encode_frame({**asked, "id": number}), 0.5)

    ended = channel.answer()

    assert isinstance(ended, Ended)
    assert ended.reason == reason
    assert value_after(channel, "RESULT = 'next'") == "next"


def test_a_stop_overtakes_what_is_asked(channel):
    channel.start(LIMITS)
    asked = {"op": "load", "source": "import time\ntime.sleep(20)", "filename": "answer.py"}
    for number in (1, 2):
        channel.ask(encode_frame({**asked, "value": ["none"], "id": number}), 30.0)

    assert channel.stop().reason == "stopped"
    assert value_after(channel, "RESULT = 'next'") == "next"


def test_close_leaves_nothing_behind(backend):
    before = backend.traces()
    channel = backend.make().open()
    channel.start(LIMITS)
    load(channel, "RESULT = 1")
    started = backend.traces() - before
    assert started

    channel.close()

    assert not gone(backend.traces, started)


def test_close_before_anything_was_asked_leaves_nothing_behind(backend):
    before = backend.traces()

    backend.make().open().close()

    assert not gone(backend.traces, backend.traces() - before)


def test_close_ends_a_worker_that_is_busy(backend):
    before = backend.traces()
    channel = backend.make().open()
    channel.start(LIMITS)
    load(channel, "while True: pass", timeout_s=0.2)
    started = backend.traces() - before

    channel.close()

    assert not gone(backend.traces, started)


def test_a_supervisor_that_is_killed_is_a_broken_sandbox_and_takes_its_worker_along(backend):
    before = backend.traces()
    with closing(backend.make().open()) as channel:
        channel.start(LIMITS)
        load(channel, "RESULT = 1")
        started = backend.traces() - before
        backend.kill_supervisors(started)

        with pytest.raises(SandboxBroken, match=r"supervisor|container"):
            ask(channel, "read", name="RESULT")

        assert not gone(backend.traces, started)


JUDGE = """
import json, sys, time
sys.path.insert(0, {tests!r})
from sandboxes import BACKENDS, LIMITS, load
from mha_judge.sandbox.container.owner import Owner
[backend] = [found for found in BACKENDS if found.name == {name!r}]
channel = backend.make().open()
channel.start(LIMITS)
print(json.dumps([str(Owner.current()), sorted(backend.traces())]), flush=True)
load(channel, "while True: pass", timeout_s=300)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_judge_that_is_ended_takes_its_sandbox_along(backend, how):
    source = JUDGE.format(tests=str(Path(__file__).parents[1]), name=backend.name)
    judge = subprocess.Popen(
        [sys.executable, "-c", source], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    owner, started = json.loads(judge.stdout.readline())
    assert started

    judge.send_signal(how)
    judge.wait(timeout=20)
    judge.stdout.close()

    def left():
        if backend.name == "container":
            return containers(owner)
        return {pid for pid in started if Path(f"/proc/{pid}").exists()}

    assert not gone(left, set(started))


@pytest.mark.parametrize(
    "lines",
    [
        "open('/etc/passwd').read()",
        f"open({str(BANK.grader('sdpa'))!r}).read()",
        f"open({str(BANK.reference('sdpa'))!r}).read()",
        f"import os; os.listdir({str(BANK.root / 'graders')!r})",
        "open('/tmp/written', 'w')",
        "open('/dev/shm/written', 'w')",
        "open('written', 'w')",
        "import os; os.mkdir('/tmp/made')",
        "import os; os.kill(os.getppid(), 9)",
        "import os; os.fork()",
        "import subprocess; subprocess.run(['/bin/true'])",
        "import os; os.execv('/bin/true', ['true'])",
        "import socket; socket.socket()",
        "import socket; socket.socket(socket.AF_UNIX)",
        "import socket; socket.socketpair()",
        "import os; open(f'/proc/{os.getppid()}/environ').read()",
        "import os; open(f'/proc/{os.getppid()}/mem', 'r+b')",
        "import os; open(f'/proc/{os.getppid()}/fd/1', 'wb')",
        "import os; os.memfd_create('x')",
        "import socket; socket.create_connection(('127.0.0.1', 80), 1)",
        "import socket; socket.getaddrinfo('localhost', 80)[0] and socket.socket()",
        "import os; os.mkfifo('/tmp/made')",
        "import os; os.symlink('/etc/passwd', '/tmp/made')",
        "import os; os.setuid(0)",
        "import os; os.chroot('/tmp')",
        "open('/proc/1/environ').read()",
        "open('/proc/self/mem', 'rb').read(1)",
        "open('/etc/resolv.conf').read()",
        "open('/var/run/docker.sock').read()",
        "x = bytearray(8 << 30)",
    ],
)
def test_a_worker_cannot(channel, lines):
    assert value_after(channel, attempt(lines)) in (
        "PermissionError", "FileNotFoundError", "OSError", "MemoryError", "ProcessLookupError",
        "gaierror",
    )  # fmt: skip


@pytest.mark.parametrize("folder", ["/", "/proc", str(BANK.root)])
def test_a_worker_lists_no_folder_of_others(channel, folder):
    assert value_after(channel, attempt(f"import os; os.listdir({folder!r})")) in (
        "PermissionError", "FileNotFoundError",
    )  # fmt: skip


def test_the_same_attempts_would_succeed_on_something_allowed(channel):
    assert value_after(channel, attempt("open('/dev/null').read()")) == "held"


def test_a_worker_sees_nothing_of_the_judges_environment(backend, monkeypatch):
    monkeypatch.setenv("JUDGE_SECRET", "s3cret-value")
    with closing(backend.make().open()) as channel:
        found = value_after(
            channel,
            "import os\nRESULT = repr(dict(os.environ))\n"
            "try:\n    RESULT += open('/proc/self/environ').read()\nexcept OSError:\n    pass",
        )

    assert "JUDGE_SECRET" not in found
    assert "s3cret" not in found
    assert "PATH" in found


def test_a_flood_of_output_is_bounded_and_does_not_stop_the_worker(channel):
    assert (
        value_after(channel, "for _ in range(200): print('x' * 100_000)\nRESULT = 'done'") == "done"
    )

    ended = channel.stop()

    assert len(ended.output) <= 64 * 1024
    assert ended.output_bytes > 10 * 1024**2


FIND_ANSWERS = """
import os, struct
def everywhere(data):
    for fd in range(3, 64):
        try:
            os.write(fd, data)
        except OSError:
            pass
"""


@pytest.mark.parametrize(
    "data",
    [
        "b'MHJ1' + struct.pack('>IQ', 2, 2**60) + b'{}'",
        "b'MHJ1' + struct.pack('>IQ', 2**32 - 1, 2**40) + b'{}'",
        "b'MHJ1' + struct.pack('>IQ', 2, 2**64 - 1) + b'{}'",
        "b'XXXX' + struct.pack('>IQ', 2, 0) + b'{}'",
        "b'MHJ1' + struct.pack('>IQ', 4, 0) + b'null'",
        "b'GET / HTTP/1.1' * 9",
    ],
)
def test_a_reply_that_is_no_frame_ends_as_a_crash(channel, data):
    channel.start(LIMITS)

    ended = load(channel, f"{FIND_ANSWERS}\neverywhere({data})\nwhile True: pass", timeout_s=5.0)

    assert isinstance(ended, Ended)
    assert ended.reason != "timeout"
    assert value_after(channel, "RESULT = 'next'") == "next"


def test_half_a_frame_is_a_timeout(channel):
    channel.start(LIMITS)

    ended = load(channel, f"{FIND_ANSWERS}\neverywhere(b'MHJ1')\nwhile True: pass", timeout_s=0.4)

    assert isinstance(ended, Ended)
    assert ended.reason == "timeout"


def test_forged_answers_are_no_other_checks_answer_and_never_hang(channel, tmp_path):
    path = tmp_path / "sdpa.py"
    path.write_text(
        FIND_ANSWERS + "import json, torch\n"
        "def scaled_dot_product_attention(q, k, v, mask=None):\n"
        "    for number in range(40):\n"
        "        text = json.dumps({'id': number, 'ok': {'answer': ['none']}}).encode()\n"
        "        everywhere(b'MHJ1' + struct.pack('>IQ', len(text), 0) + text)\n"
        "    rows = q.shape[:-1]\n"
        "    return torch.zeros(*rows, v.shape[-1]), torch.zeros(*rows, k.shape[-2])\n",
        encoding="utf-8",
    )

    report = grade(
        Submission.read(path), BANK, BANK.problem("sdpa"), channel, only=["output-shape", "values"]
    )

    assert report.verdict == "rejected"
    assert report.score == 0
    assert {str(check.outcome) for check in report.checks} <= {
        "crashed",
        "failed",
        "error",
        "not_assessed",
    }


def test_an_answer_sent_before_it_was_asked_for_counts_for_nothing(channel):
    source = (
        FIND_ANSWERS + 'text = b\'{"id":2,"ok":{"value":["int","666"]}}\'\n'
        'own = b\'{"id":1,"ok":{"definitions":{}}}\'\n'
        "frame = lambda t: b'MHJ1' + struct.pack('>IQ', len(t), 0) + t\n"
        "everywhere(frame(own) + frame(text))\nRESULT = 1\n"
    )
    channel.start(LIMITS)
    loaded = load(channel, source)
    assert isinstance(loaded, Reply)
    assert loaded.header == {"id": 1, "ok": {"definitions": {}}}

    reply = ask(channel, "read", name="RESULT", number=2)

    assert not isinstance(reply, Reply) or reply.header.get("ok", {}).get("value") != ["int", "666"]
