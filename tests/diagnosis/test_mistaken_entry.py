"""What a program of the bank's own gives is remembered, unless earlier calls decide upon it."""

import pytest
import torch

from mha_judge.bank import Bank
from mha_judge.diagnosis.mistaken_entry import ROUNDED, MistakenEntry
from mha_judge.grading.expecting.memory import memory


class Target:
    """A function as a candidate is asked for it."""

    def __init__(self, entry):
        self.entry = entry

    def identity(self):
        return ["a reference"]


@pytest.fixture(autouse=True)
def _nothing_remembered():
    memory.cache_clear()
    yield
    memory.cache_clear()


@pytest.fixture
def target():
    return Target(Bank.builtin().problem("sdpa").entry[0])


def test_a_program_is_asked_once_however_many_candidates_are_compared_with_it(target):
    asked = []

    def program(x):
        asked.append(1)
        return 2 * x

    x = torch.ones(3)
    for _ in range(2):
        mistaken_entry = MistakenEntry(program, target)
        found = mistaken_entry.remembered((x,), lambda own=mistaken_entry: own.call(ROUNDED)(x))
        assert found.tolist() == [2, 2, 2]

    assert len(asked) == 1


def test_another_program_or_question_is_another_answer(target):
    x = torch.ones(3)

    def answer(program, question):
        mistaken_entry = MistakenEntry(program, target)
        return mistaken_entry.remembered(
            (question,), lambda: mistaken_entry.call(ROUNDED)(question)
        ).tolist()

    doubled, same = (lambda x: 2 * x), (lambda x: x)

    assert [answer(doubled, x), answer(same, x), answer(doubled, x + 1)] == [
        [2] * 3,
        [1] * 3,
        [4] * 3,
    ]


def test_a_target_that_keeps_a_state_is_asked_each_time(target):
    asked = []
    target.identity = lambda: None

    for _ in range(2):
        MistakenEntry(lambda: None, target).remembered((), lambda: asked.append(1))

    assert len(asked) == 2
