"""Splitting (B, L, E) into heads (B, H, L, D), and merging them again; each graded alone."""

# B batch  L length  H heads  D head size  E = H·D width

import torch

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_inputs_unchanged,
    assert_operations_do_not_grow,
    assert_rejected,
    assert_stays_on_device,
    check,
    ways_to_observe,
)


def assert_without_loops(draw, function, shape_of):
    """Assert that a function does as many operations, however many of anything there are.

    Args:
        draw: The check's inputs.
        function: What is called.
        shape_of: Returns the input's shape, and the further arguments, for B, L and H.
    """
    base = {"B": 2, "L": 3, "H": 2}
    for words, how in (("", {}), *ways_to_observe(draw, 1)):

        def seen(how=how, **more):
            shape, further = shape_of(**base | more)
            return function.observe(draw.normal(*shape), *further, **how)

        for name, what, many in (
            ("H", "heads", draw.integer(65, 96)),
            ("L", "positions", draw.integer(1_030, 1_100)),
            ("B", "batch items", draw.integer(17, 31)),
        ):
            for count in (8, many):
                told = f"{what}{words and ', '}{words}"
                assert_operations_do_not_grow(seen(), seen(**{name: count}), told)


@check("split_heads returns (B, H, L, D)", category="shape", points=3)
def test_split_shape(candidate, draw):
    answer = candidate.split_heads(draw.normal(2, 5, 21), 3)

    assert answer.output.shape == (2, 3, 5, 7)


@check(
    "Head h holds the features h·D … h·D+D−1 of each position",
    category="values",
    points=5,
    after="split_shape",
)
def test_split_values(candidate, draw):
    for _ in range(3):
        n = draw.sizes("B L H D", (2, 3, 5, 7, 11))
        x = draw.normal(n["B"], n["L"], n["H"] * n["D"])

        assert_close(candidate.split_heads(x, n["H"]), "output")


@check("split_heads where L = H, D = H or B = L", category="values", points=1, after="split_shape")
def test_split_equal_sizes(candidate, draw):
    for B, L, H, D in ((2, 3, 3, 5), (2, 5, 3, 3), (3, 3, 2, 5), (3, 3, 3, 3)):
        assert_close(candidate.split_heads(draw.normal(B, L, H * D), H), "output")


@check(
    "split_heads with sizes of 1: B, L, H or D = 1", category="shape", points=2, after="split_shape"
)
def test_split_size_one(candidate, draw):
    for B, L, H, D in ((1, 5, 3, 7), (2, 1, 3, 7), (2, 5, 1, 7), (2, 5, 3, 1), (1, 1, 1, 1)):
        assert_close(candidate.split_heads(draw.normal(B, L, H * D), H), "output")


@check("split_heads takes a strided input", category="robustness", points=1, after="split_shape")
def test_split_non_contiguous(candidate, draw):
    assert_close(candidate.split_heads(draw.normal(5, 2, 21).transpose(0, 1), 3), "output")
    assert_close(candidate.split_heads(draw.normal(2, 21, 5).transpose(1, 2), 3), "output")
    assert_close(candidate.split_heads(draw.normal(2, 5, 42)[..., ::2], 3), "output")


@check(
    "split_heads raises where the heads do not divide the width",
    category="robustness",
    points=2,
    after="split_shape",
)
def test_split_bad_heads(candidate, draw):
    assert_rejected(candidate.split_heads, draw.normal(2, 5, 21), 4, why="width 21 with 4 heads")
    assert_rejected(candidate.split_heads, draw.normal(2, 4, 10), 3, why="width 10 with 3 heads")
    assert_rejected(candidate.split_heads, draw.normal(3, 2, 5), 6, why="width 5 with 6 heads")


@check("merge_heads returns (B, L, E)", category="shape", points=3)
def test_merge_shape(candidate, draw):
    answer = candidate.merge_heads(draw.normal(2, 3, 5, 7))

    assert answer.output.shape == (2, 5, 21)


@check(
    "Merging puts the heads of a position side by side, in order",
    category="values",
    points=5,
    after="merge_shape",
)
def test_merge_values(candidate, draw):
    for _ in range(3):
        n = draw.sizes("B L H D", (2, 3, 5, 7, 11))

        assert_close(candidate.merge_heads(draw.normal(n["B"], n["H"], n["L"], n["D"])), "output")


@check("merge_heads where L = H, D = H or B = L", category="values", points=1, after="merge_shape")
def test_merge_equal_sizes(candidate, draw):
    for B, L, H, D in ((2, 3, 3, 5), (2, 5, 3, 3), (3, 3, 2, 5), (3, 3, 3, 3)):
        assert_close(candidate.merge_heads(draw.normal(B, H, L, D)), "output")


@check(
    "merge_heads with sizes of 1: B, L, H or D = 1", category="shape", points=2, after="merge_shape"
)
def test_merge_size_one(candidate, draw):
    for B, L, H, D in ((1, 5, 3, 7), (2, 1, 3, 7), (2, 5, 1, 7), (2, 5, 3, 1), (1, 1, 1, 1)):
        assert_close(candidate.merge_heads(draw.normal(B, H, L, D)), "output")


@check(
    "merge_heads takes a tensor that is not contiguous",
    category="robustness",
    points=3,
    after="merge_shape",
)
def test_merge_non_contiguous(candidate, draw):
    assert_close(candidate.merge_heads(draw.normal(2, 5, 3, 7).transpose(1, 2)), "output")
    assert_close(candidate.merge_heads(draw.normal(2, 3, 7, 5).transpose(2, 3)), "output")
    assert_close(candidate.merge_heads(draw.normal(3, 2, 5, 7).transpose(0, 1)), "output")
    heads = draw.normal(2, 5, 9, 7).transpose(1, 2)
    for one in heads.chunk(3, 1):  # queries, keys and values, as one map makes them
        assert_close(candidate.merge_heads(one), "output")


@check(
    "dtype is kept: float64, bfloat16, float16 and integers",
    category="numerics",
    points=1,
    after=("split_shape", "merge_shape"),
)
def test_dtypes(candidate, draw):
    for dtype in (torch.float64, torch.bfloat16, torch.float16, torch.int64):
        scale = 1e12 if dtype is torch.int64 else 10  # float32 would not hold the integers
        x = (scale * draw.normal(2, 5, 21, dtype=torch.float64)).to(dtype)
        assert_close(candidate.split_heads(x, 3), "output")
        y = (scale * draw.normal(2, 3, 5, 7, dtype=torch.float64)).to(dtype)
        assert_close(candidate.merge_heads(y), "output")


@check(
    "Elements are moved, never computed with: NaN and infinity stay where they belong",
    category="values",
    points=1,
    after=("split_values", "merge_values"),
)
def test_nonfinite(candidate, draw):
    x, y = draw.normal(2, 5, 21), draw.normal(2, 3, 5, 7)
    for numbers in (x, y):
        flat = numbers.view(-1)
        flat[draw.permutation(len(flat))[:2]] = torch.tensor([torch.nan, torch.inf])

    assert_close(candidate.split_heads(x, 3), "output", nan=True)
    assert_close(candidate.merge_heads(y), "output", nan=True)


@check(
    "Gradients flow back through both",
    category="gradients",
    points=2,
    after=("split_shape", "merge_shape"),
)
def test_gradients(candidate, draw):
    assert_gradients_match(
        candidate.split_heads,
        draw.normal(2, 5, 21),
        3,
        wrt=(0,),
        cotangents=[draw.normal(2, 3, 5, 7)],
    )
    assert_gradients_match(
        candidate.merge_heads, draw.normal(2, 3, 5, 7), wrt=(0,), cotangents=[draw.normal(2, 5, 21)]
    )
    for dtype in (torch.float32, torch.bfloat16, torch.float16):  # on strided inputs
        x, y = (draw.normal(2, 21, 5, dtype=dtype).mT, draw.normal(2, 5, 3, 7, dtype=dtype))
        cotangents = [draw.normal(2, 3, 5, 7, dtype=dtype)]
        assert_gradients_match(candidate.split_heads, x, 3, wrt=(0,), cotangents=cotangents)
        cotangents = [draw.normal(2, 5, 21, dtype=dtype)]
        y = y.transpose(1, 2)
        assert_gradients_match(candidate.merge_heads, y, wrt=(0,), cotangents=cotangents)


@check(
    "The inputs are left as they were",
    category="robustness",
    points=1,
    after=("split_shape", "merge_shape"),
)
def test_inputs_unchanged(candidate, draw):
    assert_inputs_unchanged(candidate.split_heads, draw.normal(2, 5, 21), 3)
    assert_inputs_unchanged(candidate.merge_heads, draw.normal(2, 3, 5, 7))


@check(
    "The same call gives the same answer, whatever was called in between",
    category="robustness",
    points=1,
    after=("split_values", "merge_values"),
)
def test_repeatable(candidate, draw):
    x, y = draw.normal(2, 5, 21), draw.normal(2, 3, 5, 7)

    assert_close(candidate.split_heads(x, 3), "output")
    assert_close(candidate.split_heads(draw.normal(3, 2, 10), 5), "output")
    assert_close(candidate.split_heads(x, 7), "output")
    assert_close(candidate.split_heads(x, 3), "output")
    assert_close(candidate.merge_heads(y), "output")
    assert_close(candidate.merge_heads(draw.normal(3, 5, 2, 2)), "output")
    assert_close(candidate.merge_heads(y), "output")


@check(
    "split_heads has no Python loop over heads, positions or batch items",
    category="policy",
    points=2,
    after="split_shape",
)
def test_split_without_loops(candidate, draw):
    assert_without_loops(draw, candidate.split_heads, lambda B, L, H: ((B, L, 2 * H), (H,)))


@check(
    "merge_heads has no Python loop over heads, positions or batch items",
    category="policy",
    points=2,
    after="merge_shape",
)
def test_merge_without_loops(candidate, draw):
    assert_without_loops(draw, candidate.merge_heads, lambda B, L, H: ((B, H, L, 5), ()))


@check(
    "On a GPU: the same values in float32, bfloat16 and float16",
    category="gpu",
    points=2,
    after="merge_values",
)
def test_gpu_values(gpu, draw):
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        assert_close(gpu.split_heads(draw.normal(2, 5, 12, dtype=dtype), 3), "output")
        assert_close(gpu.merge_heads(draw.normal(2, 3, 5, 4, dtype=dtype)), "output")


@check(
    "On a GPU: what is computed and returned stays there",
    category="gpu",
    points=2,
    after="gpu_values",
)
def test_gpu_device(gpu, draw):
    assert_stays_on_device(gpu, gpu.split_heads, draw.normal(2, 5, 12), 3)
    assert_stays_on_device(gpu, gpu.merge_heads, draw.normal(2, 3, 5, 4))
