"""A mistake that is replayed in the judge cannot take the judge's memory."""

import resource

import numpy
import pytest
import torch

from mha_judge.grading.expecting.bounds import bounded_memory, is_out_of_memory


def test_what_asks_for_more_raises_and_the_bound_is_gone_afterwards():
    before = resource.getrlimit(resource.RLIMIT_AS)
    with bounded_memory(256 * 1024**2):
        with pytest.raises(MemoryError) as of_numpy:
            numpy.ones((1024, 1024, 128))
        with pytest.raises(RuntimeError) as of_torch:
            torch.ones(1024, 1024, 256)
        assert torch.ones(1024, 1024).sum() == 1024**2

    assert is_out_of_memory(of_numpy.value) and is_out_of_memory(of_torch.value)
    assert not is_out_of_memory(MemoryError("the pool is full"))
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    assert numpy.ones((1024, 1024, 64)).size == 64 * 1024**2
