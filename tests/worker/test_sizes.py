"""Sizes of tensors tell what a call compares them with."""

import copy

import pytest
import torch

from mha_judge.wire.bounds import MAX_COMPARED, MAX_FORMULA
from mha_judge.worker.sizes import compared_in

X = torch.zeros(3, 5)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: X.shape[0] > 260, ["__gt__", [3], 260]),
        (lambda: X.size(1) <= 2.0, ["__le__", [5], 2]),
        (lambda: X.T.size()[0] == X.shape[0], ["__eq__", [5], [3]]),
        (lambda: X.numel() > 4, ["__gt__", [15], 4]),
        (lambda: 2 * X.shape[1] - 1 != 7, ["__ne__", ["__sub__", ["__rmul__", [5], 2], 1], 7]),
        (lambda: X.size(0) % 2 or X.size(1), ["__ne__", ["__mod__", [3], 2], 0]),
        (lambda: X.numel() // 4 < 9, ["__lt__", ["__floordiv__", [15], 4], 9]),
        (lambda: min(X.shape[0], 64), ["__gt__", [3], 64]),
    ],
)
def test_a_comparison_is_told_with_how_the_size_was_computed(call, told):
    assert compared_in(call)[0] == told


def test_what_was_compared_is_told_once_and_before_an_error_too():
    def call():
        for _ in range(3):
            if X.shape[0] > 2:
                continue
        raise ValueError

    assert compared_in(call) == [["__gt__", [3], 2]]


def test_what_is_told_is_bounded():
    def call():
        size = X.shape[0]
        for number in range(2 * MAX_COMPARED):
            size = size + 1
            assert size > number

    told = compared_in(call)

    assert len(told) == MAX_COMPARED
    assert max(str(one).count(",") for one in told) <= MAX_FORMULA + 2


def test_a_size_is_otherwise_a_whole_number():
    kept = []
    compared_in(lambda: kept.extend(X.shape))
    size = kept[0]

    assert (size, hash(size), f"{size}", copy.deepcopy(size)) == (3, hash(3), "3", 3)
    assert torch.ones(size, kept[1]).view(size * kept[1]).shape == (15,)
    assert {3: "found"}[size] == "found"
    assert size / 2 == 1.5 and size + 0.5 == 3.5 and size > 2.5


def test_outside_a_call_nothing_is_noted():
    kept = []

    told = compared_in(lambda: kept.extend(X.shape))
    assert kept[0] < kept[1]

    assert told == []
    assert type(X.shape[0]) is int
