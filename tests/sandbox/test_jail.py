"""The contract of a sandbox, tried on the jail with bubblewrap and without."""

import os
import shutil
import signal
import time
from contextlib import closing
from pathlib import Path

import pytest

from mha_judge.bank import Bank
from mha_judge.errors import SandboxBroken, SandboxUnavailable
from mha_judge.judge import grade
from mha_judge.sandbox import Ended, Reply
from mha_judge.sandbox.jail import Jail
from mha_judge.sandbox.limits import Limits
from mha_judge.submission import Submission
from mha_judge.wire import encode_frame, unpack

if reason := Jail().unavailable():
    pytest.skip(reason, allow_module_level=True)

LIMITS = Limits(cpu_s=20)
BANK = Bank.builtin()


def _bubblewrap_works() -> bool:
    if shutil.which("bwrap") is None:
        return False
    with closing(Jail(bubblewrap=True).open()) as channel:
        try:
            channel.start(LIMITS)
        except SandboxUnavailable:
            return False
    return True


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "bubblewrap"])
def jail(request):
    if request.param and not _bubblewrap_works():
        pytest.skip("bubblewrap does not work here")
    return Jail(bubblewrap=request.param)


@pytest.fixture(scope="module")
def channel(jail):
    with closing(jail.open()) as opened:
        yield opened


def ask(channel, op, timeout_s=10.0, number=1, **fields):
    header = {"id": number, "op": op, "value": ["none"], **fields}
    return channel.request(encode_frame(header), timeout_s)


def load(channel, source, timeout_s=10.0):
    return ask(channel, "load", timeout_s, source=source, filename="answer.py")


def value_after(channel, source):
    """Return RESULT as a file that ran in a fresh worker left it."""
    channel.start(LIMITS)
    loaded = load(channel, source)
    assert isinstance(loaded, Reply), loaded
    assert "ok" in loaded.header, loaded.header
    reply = ask(channel, "read", name="RESULT", number=2)
    assert isinstance(reply, Reply), reply
    return unpack(reply.header["ok"]["value"], reply.payload)


def attempt(lines):
    """Return a source that puts what the lines come to, or their error, into RESULT."""
    body = "\n".join(f"    {line}" for line in lines.splitlines())
    end = "except Exception as error:\n    RESULT = type(error).__name__\n"
    return f"RESULT = 'held'\ntry:\n{body}\n{end}"


def descendants(pid):
    """Return the pids of all processes below one, from /proc."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                parents[int(entry.name)] = int(fields[1])
    found, fresh = set(), {pid}
    while fresh:
        fresh = {child for child, parent in parents.items() if parent in fresh} - found
        found |= fresh
    return found


def gone(pids, within_s=5.0):
    deadline = time.monotonic() + within_s
    while alive := [pid for pid in pids if _runs(pid)]:
        if time.monotonic() > deadline:
            return alive
        time.sleep(0.02)
    return []


def _runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_tier_names_the_layers_that_hold(jail, channel):
    tier = channel.start(LIMITS)

    assert tier.backend == "jail"
    assert tier.tier.endswith("landlock+seccomp+rlimits")
    assert tier.details["bubblewrap"] is tier.tier.startswith("bubblewrap+")
    assert tier.details["no_new_privs"] is True


def test_a_request_is_answered_and_state_lasts_until_the_next_start(channel):
    assert value_after(channel, "RESULT = 6 * 7") == 42

    channel.start(LIMITS)
    reply = ask(channel, "read", name="RESULT")

    assert isinstance(reply, Reply)
    assert "raised" in reply.header


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
    "source", ["while True: pass", "import time\ntime.sleep(60)",
               "import signal\nsignal.pthread_sigmask(0, range(1, 32))\nwhile True: pass"],
    ids=["busy", "asleep", "deaf"],
)  # fmt: skip
def test_a_timeout_is_returned_in_time_and_the_next_start_works(channel, source):
    channel.start(LIMITS)
    started = time.monotonic()

    ended = load(channel, source, timeout_s=0.4)

    assert isinstance(ended, Ended)
    assert ended.reason == "timeout"
    assert time.monotonic() - started < 3
    assert value_after(channel, "RESULT = 'next'") == "next"


def test_requests_after_an_end_are_answered_with_an_end(channel):
    channel.start(LIMITS)
    channel.stop()

    ended = ask(channel, "read", name="RESULT")

    assert isinstance(ended, Ended)
    assert ended.reason == "no worker"


def test_close_leaves_no_process_behind(jail):
    before = descendants(os.getpid())
    channel = jail.open()
    channel.start(LIMITS)
    load(channel, "RESULT = 1")
    started = descendants(os.getpid()) - before
    assert len(started) >= 2  # supervisor and worker

    channel.close()

    assert gone(started) == []


def test_a_supervisor_that_is_killed_is_a_broken_sandbox_and_takes_its_worker_along(jail):
    before = descendants(os.getpid())
    with closing(jail.open()) as channel:
        channel.start(LIMITS)
        load(channel, "RESULT = 1")
        started = descendants(os.getpid()) - before
        supervisors = [
            pid for pid in started if _command(pid).endswith("mha_judge.worker.supervisor")
        ]
        os.kill(min(supervisors), signal.SIGKILL)

        with pytest.raises(SandboxBroken, match="supervisor"):
            ask(channel, "read", name="RESULT")

        assert gone(started) == []


def _command(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:
        return ""


@pytest.mark.parametrize(
    "lines",
    [
        "open('/etc/passwd').read()",
        f"open({str(BANK.grader('sdpa'))!r}).read()",
        f"open({str(BANK.reference('sdpa'))!r}).read()",
        f"import os; os.listdir({str(BANK.root)!r})",
        "import os; os.listdir('/')",
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
        "import os; os.memfd_create('x')",
        "x = bytearray(8 << 30)",
    ],
)
def test_a_worker_cannot(channel, lines):
    assert value_after(channel, attempt(lines)) in (
        "PermissionError", "FileNotFoundError", "OSError", "MemoryError", "ProcessLookupError",
    )  # fmt: skip


def test_the_same_attempts_would_succeed_on_something_allowed(channel):
    assert value_after(channel, attempt("open('/dev/null').read()")) == "held"


def test_a_worker_sees_nothing_of_the_judges_environment(jail, monkeypatch):
    monkeypatch.setenv("JUDGE_SECRET", "s3cret-value")
    with closing(jail.open()) as channel:
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
    started = time.monotonic()

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
    assert time.monotonic() - started < 20


def test_an_answer_sent_before_it_was_asked_for_counts_for_nothing(channel):
    source = (
        FIND_ANSWERS + 'text = b\'{"id":2,"ok":{"value":["int","666"]}}\'\n'
        'own = b\'{"id":1,"ok":{"definitions":{}}}\'\n'
        "frame = lambda t: b'MHJ1' + struct.pack('>IQ', len(t), 0) + t\n"
        "everywhere(frame(own) + frame(text))\nRESULT = 1\n"
    )
    channel.start(LIMITS)
    loaded = load(channel, source)
    assert loaded == Reply({"id": 1, "ok": {"definitions": {}}}, b"")

    reply = ask(channel, "read", name="RESULT", number=2)

    assert not isinstance(reply, Reply) or reply.header.get("ok", {}).get("value") != ["int", "666"]
