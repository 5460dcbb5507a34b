"""A map placed in a layout, used as that layout is used, computes the same."""

import itertools

import pytest
import torch

from mha_judge.grading.binding.layouts import FUSED_LAYOUTS, fuse, layouts_of, place

# E 6 inputs, O 10 outputs, H 2 heads, D 5 head size
WEIGHT = torch.arange(60, dtype=torch.float64).reshape(10, 6)
SQUARE = torch.arange(36.0).reshape(6, 6)


@pytest.mark.parametrize(
    ("shape", "owner", "split", "expected"),
    [
        ((10, 6), "Linear", "out", ["out in"]),
        ((6, 10), "Linear", "out", []),
        ((10, 6, 1), "Conv1d", "out", ["out in"]),
        ((10, 6), "Conv1d", "out", []),
        ((10, 6), "", "out", ["out in"]),
        ((6, 10), "", "out", ["in out"]),
        ((1, 6, 10), "", "out", ["in out"]),
        ((7, 10), "", "out", []),
        ((10, 7), "", "out", []),
        ((2, 6, 5), "", "out", ["head in dim"]),
        ((6, 2, 5), "", "out", ["in head dim"]),
        ((2, 5, 6), "", "out", ["head dim in"]),
        ((2, 3, 10), "", "in", ["head dim out"]),
        ((2, 6, 5), "", "fused", []),
        ((2, 6, 5), "Linear", "out", []),
        ((2, 6, 4), "", "out", []),
        ((60,), "", "out", []),
    ],
)
def test_the_layouts_that_fit_a_shape(shape, owner, split, expected):
    assert layouts_of(shape, owner, WEIGHT, 2, split) == expected


@pytest.mark.parametrize("shape", [(1, 1), (1, 1, 1, 1)])
def test_a_map_of_one_number_fits_a_matrix_and_a_kernel(shape):
    found = layouts_of(shape, "", torch.ones(1, 1), 1, "table")

    assert found == ["in out", "out in"]
    assert all(
        place(torch.ones(1, 1), layout, shape, 1, "table").shape == shape for layout in found
    )


def test_a_square_matrix_of_ones_own_fits_both_ways_and_x_times_w_comes_first():
    assert layouts_of((6, 6), "", SQUARE, 2, "out") == ["in out", "out in"]


@pytest.mark.parametrize("order", list(itertools.permutations(("head", "dim", "in"))), ids=" ".join)
def test_each_order_of_axes_computes_the_heads_of_the_map(order):
    sizes = {"head": 2, "dim": 5, "in": 6}
    shape = [sizes[axis] for axis in order]
    x = torch.randn(3, 6).double()

    placed = place(WEIGHT, " ".join(order), shape, 2, "out")

    assert list(placed.shape) == shape
    letters = "".join({"head": "h", "dim": "d", "in": "e"}[axis] for axis in order)
    heads = torch.einsum(f"le,{letters}->lhd", x, placed)
    torch.testing.assert_close(heads.flatten(1), x @ WEIGHT.T)


@pytest.mark.parametrize(
    "order", list(itertools.permutations(("out", "head", "dim"))), ids=" ".join
)
def test_each_order_of_axes_of_an_output_map_joins_the_heads(order):
    sizes = {"out": 10, "head": 2, "dim": 3}
    x = torch.randn(4, 2, 3).double()

    placed = place(WEIGHT, " ".join(order), [sizes[a] for a in order], 2, "in")

    letters = "".join({"out": "o", "head": "h", "dim": "d"}[axis] for axis in order)
    joined = torch.einsum(f"lhd,{letters}->lo", x, placed)
    torch.testing.assert_close(joined, x.flatten(1) @ WEIGHT.T)


def test_plain_layouts_are_the_matrix_and_its_transpose():
    assert torch.equal(place(WEIGHT, "out in", (10, 6), 2, "out"), WEIGHT)
    assert torch.equal(place(WEIGHT, "in out", (6, 10), 2, "out"), WEIGHT.T)
    assert torch.equal(place(WEIGHT, "in out", (1, 6, 10), 2, "out"), WEIGHT.T[None])


@pytest.mark.parametrize(
    ("layout", "read"),
    [
        ("part head dim", lambda y: y.view(3, 2, 5)),
        ("head part dim", lambda y: y.view(2, 3, 5).transpose(0, 1)),
        ("head dim part", lambda y: y.view(2, 5, 3).permute(2, 0, 1)),
    ],
)
def test_a_fused_map_read_as_its_layout_says_gives_the_parts_back(layout, read):
    parts = [torch.randn(10, 6) for _ in range(3)]
    x = torch.randn(6)

    fused = fuse(parts, (2, 2, 2), layout)

    assert fused is not None
    expected = torch.stack([(part @ x).view(2, 5) for part in parts])
    torch.testing.assert_close(read(fused @ x), expected)


def test_groups_hold_their_query_heads_then_their_key_then_their_value():
    q, k, v = torch.arange(8.0), torch.tensor([10.0, 11, 12, 13]), torch.tensor([20.0, 21, 22, 23])

    fused = fuse([q, k, v], (4, 2, 2), "group")  # D = 2: two query heads a group

    assert fused is not None
    assert fused.tolist() == [0, 1, 2, 3, 10, 11, 20, 21, 4, 5, 6, 7, 12, 13, 22, 23]


def test_layouts_that_need_equal_heads_refuse_uneven_ones():
    uneven = [torch.zeros(8, 6), torch.zeros(4, 6), torch.zeros(4, 6)]
    even = [torch.zeros(8, 6)] * 3

    assert [fuse(uneven, (4, 2, 2), layout) is None for layout in FUSED_LAYOUTS] == [
        False,
        True,
        True,
        False,
    ]
    assert [fuse(even, (4, 4, 4), layout) is None for layout in FUSED_LAYOUTS] == [False] * 4
