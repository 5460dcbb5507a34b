"""Inputs repeat with the seed, differ from check to check, and hide no axis behind another."""

import pytest
import torch

from mha_judge.grading.draw import PRIMES, Draw


def stream(seed, name):
    return Draw(seed, name).normal(50)


def test_the_same_seed_and_check_give_the_same_inputs():
    assert torch.equal(stream(7, "values"), stream(7, "values"))


@pytest.mark.parametrize(
    "other", [(8, "values"), (7, "mask"), (71, "values"), (2**53 - 1, "values")]
)
def test_another_seed_or_check_gives_other_inputs(other):
    assert not torch.equal(stream(7, "values"), stream(*other))


def test_the_global_generator_is_left_alone():
    torch.manual_seed(5)
    before = torch.get_rng_state()

    Draw(1, "x").normal(9)

    assert torch.equal(before, torch.get_rng_state())


def test_normal_numbers_are_standard_and_of_the_dtype_asked_for():
    numbers = Draw(1, "x").normal(100, 100, dtype=torch.bfloat16)

    assert (numbers.dtype, tuple(numbers.shape)) == (torch.bfloat16, (100, 100))
    assert abs(float(numbers.double().mean())) < 0.05
    assert abs(float(numbers.double().std()) - 1) < 0.05


def test_the_same_numbers_are_drawn_whatever_the_dtype():
    numbers = [Draw(1, "x").normal(9, dtype=dtype) for dtype in (torch.float64, torch.float32)]

    assert torch.equal(numbers[0].float(), numbers[1])


def test_integers_include_both_ends():
    draw = Draw(1, "x")

    assert {draw.integer(2, 4) for _ in range(100)} == {2, 3, 4}


@pytest.mark.parametrize("seed", range(10))
def test_sizes_are_distinct_primes(seed):
    sizes = Draw(seed, "x").sizes("B H L S D Dv")

    assert list(sizes) == ["B", "H", "L", "S", "D", "Dv"]
    assert len(set(sizes.values())) == 6
    assert set(sizes.values()) <= set(PRIMES)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("shape", [(5, 7), (2, 3, 5, 7), (2, 1, 1, 7), (1, 2), (3, 2)])
def test_every_row_of_a_mask_keeps_a_key_and_every_mask_blocks_one(seed, shape):
    mask = Draw(seed, "x").mask(*shape)

    assert (mask.dtype, tuple(mask.shape)) == (torch.bool, shape)
    assert mask.any(-1).all()
    assert not mask.all()


def test_a_mask_that_keeps_all_still_blocks_one():
    mask = Draw(1, "x").mask(5, 7, keep=1.0)

    assert int((~mask).sum()) == 1
    assert mask.any(-1).all()


def test_the_rows_of_a_mask_are_not_all_the_same():
    for seed in range(40):
        mask = Draw(seed, "x").mask(2, 1, 1, 2)

        assert not mask[0].equal(mask[1])
        assert mask.any(-1).all()


def test_a_permutation_holds_each_index_once():
    assert sorted(Draw(1, "x").permutation(11).tolist()) == list(range(11))
