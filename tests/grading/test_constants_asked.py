"""Which sizes are asked for near the numbers in a source, and what that may cost."""

import math
from types import SimpleNamespace

import pytest
import torch

from mha_judge.bank import Bank
from mha_judge.grading.calling.shapes import Shapes
from mha_judge.grading.checks.cases import Case
from mha_judge.grading.checks.corners import constants
from mha_judge.grading.checks.corners.sized import cost
from mha_judge.grading.checks.corners.widths import sizes_of
from mha_judge.grading.draw import Draw
from mha_judge.wire.bounds import MAX_TENSOR_BYTES

(ENTRY,) = Bank.builtin().problem("sdpa").entry
(SOFTMAX,) = (
    one for one in Bank.builtin().problem("mha-valid-lens").entry if one.name == "masked_softmax"
)
TABLE = "SIZES = (64, 128, 256, 512, 1024, 2048, 1 << 19, 1 << 20)"


def form(*mask):
    args = [torch.randn(2, 3, *size) for size in ((5, 11), (7, 11), (7, 13))]
    args += [torch.ones(mask, dtype=torch.bool) if mask else None]
    shapes = Shapes(ENTRY.domain, ENTRY.arguments, args, {})
    return Case(SimpleNamespace(entry=ENTRY), tuple(args), shapes)


FORMS = (form(), form(5, 7), form(2, 1, 1, 7), form(2, 3, 5, 7))


def asked_near(source):
    """Return the questions that are asked near the numbers in a source."""
    asked = []

    def begin(case, args, manner=None, wanted=None):
        asked.append(case)
        return lambda: None

    task = SimpleNamespace(submission=SimpleNamespace(source=source))
    asking = SimpleNamespace(
        context=SimpleNamespace(task=task, may_notice=lambda axis, value: True),
        draw=Draw(1, "constants"),
        begin=begin,
    )
    for later in constants.near_constants(asking, FORMS, {}):
        later()
    return asked


def prices(asked):
    return [cost(one, sizes_of(one)) for one in asked]


def test_each_length_is_asked_just_around_a_number_and_beyond_twice_of_it():
    sizes = [sizes_of(one) for one in asked_near("BLOCK = 100")]

    for letter in ("L", "S"):
        assert {99, 100, 101, 201} <= {one[letter] for one in sizes}
    assert 101 in {one["items"] for one in sizes}


def test_a_source_without_such_numbers_adds_nothing():
    assert asked_near("HALF, HEADS, MUCH = 0.5, 4, 1_000_000_000") == []


def test_the_answers_to_a_table_of_sizes_fit_what_a_worker_may_send():
    asked = asked_near(TABLE)

    assert max(sizes_of(one)["L"] for one in asked) > 1024
    for one in asked:
        sizes = sizes_of(one)
        weights = sizes["items"] * sizes["heads"] * sizes["L"] * sizes["S"]
        assert weights * torch.float32.itemsize < MAX_TENSOR_BYTES, sizes


@pytest.mark.parametrize(
    ("items", "length", "may_be_asked"), [(1, 2000, True), (3, 2000, False), (40, 1400, False)]
)
def test_an_input_that_is_as_large_as_weights_is_bounded_too(items, length, may_be_asked):
    scores = torch.randn(3, 5, 7)
    shapes = Shapes(SOFTMAX.domain, SOFTMAX.arguments, [scores], {})
    case = Case(SimpleNamespace(entry=SOFTMAX), (scores,), shapes)

    price = cost(case, {"N": items, "L": length, "S": length})

    assert (price < math.inf) is may_be_asked


@pytest.mark.parametrize("budget", [1_000_000, 30_000_000])
def test_the_cheapest_are_asked_as_far_as_the_budget_goes(monkeypatch, budget):
    every = asked_near(TABLE)
    monkeypatch.setattr(constants, "_BUDGET", budget)

    asked = asked_near(TABLE)

    assert 0 < len(asked) < len(every)
    assert [*map(sizes_of, asked)] == [*map(sizes_of, every[: len(asked)])]
    assert sum(prices(asked)) <= budget < sum(prices(every))
    assert max(prices(every)) > 10 * max(prices(asked))


def test_where_nothing_may_be_long_nothing_is_asked(monkeypatch):
    monkeypatch.setattr(f"{__name__}.FORMS", ())

    assert asked_near(TABLE) == []
