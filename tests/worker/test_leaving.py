"""What a call must leave as it is is watched in the worker."""

import numpy
import pytest
import torch

from mha_judge.worker import leaving
from mha_judge.worker.leaving import Inputs, Results


@pytest.mark.parametrize(
    "write",
    [
        lambda one: one.fill_(2),
        lambda one: one.data.fill_(2),
        lambda one: one.numpy().fill(2),
        lambda one: one[1:].zero_(),
        lambda one: one.mul_(2).div_(2),
        lambda one: one.resize_(2),
    ],
)
def test_an_input_that_is_written_to_is_named_by_its_place(write):
    first, second = torch.ones(3), torch.ones(3)
    inputs = Inputs(((first, [second]), {"mask": None}))

    write(second)

    assert inputs.written() == [1]


def test_what_an_input_is_a_part_of_must_stay_as_it_is():
    longer = torch.ones(5, 3)
    inputs = Inputs([longer[:3], longer[:3].T])

    longer.data[3:] = 2

    assert inputs.written() == [0, 1]


def test_an_input_that_is_only_read_is_not_named():
    one = torch.tensor([1.0, torch.nan, -torch.inf])
    inputs = Inputs(((one, numpy.ones(2), one.expand(2, 3)), {}))

    (one * 2).view(3).zero_()

    assert inputs.written() == []


def test_an_array_is_compared_by_its_numbers():
    array = numpy.ones(3)
    inputs = Inputs(array)

    array *= 2

    assert inputs.written() == [0]


def test_a_result_is_compared_with_what_it_was():
    results, shared = Results(), torch.ones(2)
    results.keep(3, (shared[:1], {"weights": torch.ones(2, requires_grad=True)}))
    results.keep(4, [torch.full((2,), torch.nan)])

    assert results.overwritten() == []
    shared.zero_()
    assert results.overwritten() == [3]


def test_arrays_that_torch_does_not_take_are_kept_as_well():
    results, backwards, foreign = Results(), numpy.ones(3)[::-1], numpy.ones(2, ">f8")
    results.keep(1, [backwards, foreign, numpy.array([None, 1])])
    results.keep(2, foreign)

    assert results.overwritten() == []
    foreign[0] = numpy.nan
    assert results.overwritten() == [1, 2]


def test_the_oldest_results_are_let_go(monkeypatch):
    monkeypatch.setattr(leaving, "_KEPT_BYTES", 20)
    results, first, second = Results(), torch.ones(3), torch.ones(3)
    results.keep(1, first)
    results.keep(2, second)

    first.zero_(), second.zero_()

    assert results.overwritten() == [2]
