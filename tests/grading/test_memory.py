"""What the reference gave is kept by content, within a limit, and changes no report."""

import ctypes
import shutil
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass

import pytest
import torch

from mha_judge.bank import Bank
from mha_judge.errors import UsageError
from mha_judge.grading.expecting.expected import Expected, Live
from mha_judge.grading.expecting.memory import (
    VARIABLE,
    Memory,
    key_of,
    limit_bytes,
    number_of,
)
from mha_judge.judge import grade
from mha_judge.sandbox import SandboxOptions
from mha_judge.submission import Submission
from mha_judge.wire import Kept

BANK = Bank.builtin()
DOUBLED = """

_right = scaled_dot_product_attention


def scaled_dot_product_attention(q, k, v, mask=None):
    output, weights = _right(q, k, v, mask)
    return 2 * output, weights
"""
x = torch.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (x, x + 1e-7),
        (x, x.double()),
        (x, x.reshape(3, 2)),
        (x, x.T.contiguous().T),
        (x, x.clone().requires_grad_()),
        (torch.zeros(2, dtype=torch.bfloat16), torch.zeros(2, dtype=torch.float16)),
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        ("1", 1),
        (None, "None"),
        ([1, [2, 3]], [1, 2, [3]]),
        ([[1], 2], [[1, 2]]),
        ([12], [1, 2]),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}),
        ([x, None], [None, x]),
        (torch.float32, torch.float64),
        (Live(Kept(1), Expected(x, x)), Live(Kept(1), Expected(x, x + 1))),
    ],
)
def test_what_differs_has_another_key(one, other):
    assert key_of(one) != key_of(other)


def test_equal_content_has_one_key():
    live = [Live(Kept(number), Expected(x.clone(), x.clone())) for number in (1, 2)]

    assert key_of("of", [x, {"mask": None}]) == key_of("of", (x.clone(), {"mask": None}))
    assert key_of(live[0]) == key_of(live[1])  # the reference gets what it should be, not whose


@pytest.mark.parametrize("value", [object(), [object()], {"a": object()}, {1, 2}])
def test_what_cannot_be_read_has_no_key(value):
    assert key_of(value) is None


def test_programs_are_told_apart_though_they_have_one_name():
    one, other = (lambda: 1), (lambda: 1)

    assert number_of(one) == number_of(one) != number_of(other)


def test_an_answer_is_asked_for_once():
    kept, asked = Memory(1 << 20), []

    found = [kept.recall(b"key", lambda: asked.append(1) or x) for _ in range(3)]

    assert asked == [1]
    assert all(one is x for one in found)


def test_an_answer_that_depends_on_more_is_asked_for_each_time():
    kept, asked = Memory(10_000), []

    for _ in range(2):
        kept.recall(b"key", lambda: asked.append(1), may_keep=lambda: False)

    assert len(asked) == 2


def test_a_change_in_place_is_another_question():
    value = x.clone()
    before = key_of(value)

    value.add_(1)

    assert key_of(value) != before
    assert key_of(value.sub_(1)) == before


def test_an_exception_is_no_answer():
    kept = Memory(1 << 20)

    with pytest.raises(ZeroDivisionError):
        kept.recall(b"key", lambda: 1 / 0)

    assert kept.recall(b"key", lambda: 2) == 2


@pytest.mark.parametrize(("limit", "key"), [(0, b"key"), (1 << 20, None)])
def test_nothing_is_kept_without_room_or_a_key(limit, key):
    kept, asked = Memory(limit), []

    for _ in range(2):
        kept.recall(key, lambda: asked.append(1))

    assert len(asked) == 2


class Machine:
    """Asks questions whose answers take 4,000 bytes, and some seconds of its clock."""

    def __init__(self, limit):
        self.seconds, self.asked = 0.0, []
        self.kept = Memory(limit, lambda: self.seconds)

    def recall(self, name, seconds=1.0):
        def ask():
            self.asked.append(name)
            self.seconds += seconds
            return torch.zeros(4_000, dtype=torch.uint8)

        self.kept.recall(name, ask)


def test_what_took_least_for_its_size_is_forgotten_first():
    machine = Machine(12_000)

    took = {b"slow": 3, b"quick": 1, b"slower": 5}
    for name in (b"slow", b"quick", b"slower", b"slow", b"slower"):
        machine.recall(name, took[name])

    assert machine.asked == [b"slow", b"quick", b"slower"]
    assert machine.kept.held_bytes <= 12_000


def test_questions_that_come_round_again_are_known_though_not_all_are_kept():
    machine = Machine(50_000)

    for _ in range(10):
        for name in range(20):
            machine.recall(b"%d" % name, 100 if name < 6 else 1)

    assert len(machine.asked) <= 10 * 14 + 6
    assert machine.kept.held_bytes <= 50_000


def test_what_nobody_asks_for_any_more_is_forgotten_however_long_it_took():
    machine = Machine(12_000)
    machine.recall(b"long", 20)

    for name in range(40):
        machine.recall(b"%d" % name)
    machine.recall(b"long", 20)

    assert machine.asked.count(b"long") == 2


def test_what_is_larger_than_the_limit_is_given_and_not_kept():
    kept = Memory(10_000)
    large = torch.zeros(20_000, dtype=torch.uint8)

    assert kept.recall(b"key", lambda: large) is large
    assert kept.held_bytes == 0


def test_the_numbers_of_expected_values_count():
    @dataclass(frozen=True)
    class Pair:
        one: torch.Tensor
        other: torch.Tensor

    kept = Memory(1 << 20)

    kept.recall(b"key", lambda: [{"out": Pair(torch.zeros(1_000), torch.zeros(1_000))}])

    assert kept.held_bytes > 8_000


def test_the_limit_is_said_in_mib():
    assert limit_bytes("0") == 0
    assert limit_bytes("3") == 3 << 20


@pytest.mark.parametrize("text", ["much", "-1", "1.5", " "])
def test_a_limit_that_is_no_number_is_refused(text):
    with pytest.raises(UsageError, match=f"{VARIABLE}={text} is no number of MiB"):
        limit_bytes(text)


def test_a_small_machine_keeps_little(monkeypatch):
    usual = limit_bytes("")
    monkeypatch.setattr("os.sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1 << 16}.get)
    monkeypatch.setattr("os.cpu_count", lambda: 4)

    assert 0 < limit_bytes("") == (4096 << 16) // 32 < usual


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="not on glibc")
def test_what_is_free_between_what_is_remembered_is_given_back():
    lines = (
        "from pathlib import Path\n"
        "from mha_judge.pool.serve import give_back_memory\n"
        "def held():\n"
        "    return int(Path('/proc/self/statm').read_text().split()[1]) * 4096\n"
        "blocks = [bytearray(b'x') * 100_000 for _ in range(3_000)]\n"
        "remembered = blocks[::50]\n"
        "del blocks\n"
        "before = held()\n"
        "give_back_memory()\n"
        "print(before - held())\n"
    )

    told = subprocess.run([sys.executable, "-c", lines], check=True, capture_output=True, text=True)

    assert int(told.stdout) > 200_000_000


@pytest.fixture(scope="module")
def channel():
    with closing(SandboxOptions("jail").open()) as opened:
        yield opened


@pytest.mark.slow
def test_a_bank_that_changes_is_forgotten_at_once(tmp_path, channel):
    for name in ("problems", "graders", "reference"):
        shutil.copytree(BANK.root / name, tmp_path / name)
    bank = Bank.at(tmp_path)
    reference = bank.reference("sdpa")
    answer = Submission.of(reference.read_text(encoding="utf-8"), "sdpa.py")
    problem = bank.problem("sdpa")

    def report():
        return grade(answer, bank, problem, channel, seed=1)

    before = report()
    with reference.open("a", encoding="utf-8") as file:
        file.write(DOUBLED)
    after = report()

    assert before.verdict == "accepted"
    assert after.verdict == "rejected"
    assert [c.id for c in after.checks if c.outcome == "passed"]
