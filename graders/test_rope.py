"""Rotary position embedding: features i and i + D/2 turned by position · base^(−2i/D)."""

# B batch  H heads  L length  D head size

import torch

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_inputs_unchanged,
    assert_operations_do_not_grow,
    assert_rejected,
    assert_stays_on_device,
    check,
    fail,
)

B, H, L, D = 2, 3, 5, 14


def tokens(draw, B=B, H=H, L=L, D=D, dtype=torch.float32):
    return draw.normal(B, H, L, D, dtype=dtype)


def distinct(draw, count, below):
    """Return different positions in no order, the first of them not the smallest."""
    drawn = draw.permutation(below)[:count].sort().values
    return drawn.roll(1) if count < 3 else drawn[torch.tensor([1, *range(2, count), 0])]


@check("Returns x turned, of the same shape (B, H, L, D)", category="shape", points=2)
def test_output_shape(candidate, draw):
    answer = candidate.apply_rope(tokens(draw), torch.arange(L))

    assert answer.output.shape == (B, H, L, D)


@check(
    "Features i and i + D/2 turn by position · base^(−2i/D), on several random shapes",
    category="values",
    points=5,
    after="output_shape",
)
def test_values(candidate, draw):
    for _ in range(3):
        n = draw.sizes("B H L half")
        x = tokens(draw, n["B"], n["H"], n["L"], 2 * n["half"])

        assert_close(candidate.apply_rope(x, torch.arange(n["L"])), "output")


@check(
    "The pairs are features i and i + D/2: no other feature is mixed in",
    category="values",
    points=3,
    after="output_shape",
)
def test_pairs(candidate, draw):
    one_at_a_time = torch.eye(8).reshape(8, 1, 1, 8).expand(8, 1, 3, 8).contiguous()
    for width in (8, 6):
        x = one_at_a_time[:width, ..., :width].contiguous()
        assert_close(candidate.apply_rope(x, torch.tensor([1, 2, 3])), "output")


@check(
    "The direction: (1, 0) at position 1 turns to (cos 1, sin 1)",
    category="values",
    points=2,
    after="output_shape",
)
def test_direction(candidate, draw):
    right, up = torch.tensor([[[[1.0, 0.0]]]]), torch.tensor([[[[0.0, 1.0]]]])
    for x in (right, up):
        assert_close(candidate.apply_rope(x, torch.tensor([1])), "output")
        assert_close(candidate.apply_rope(x, torch.tensor([2])), "output")


@check(
    "The frequencies run from 1 down to base^(−(D−2)/D), for small and for large D",
    category="values",
    points=3,
    after="output_shape",
)
def test_frequencies(candidate, draw):
    for width in (4, 64, 128):
        x = tokens(draw, 1, 2, 7, width)

        assert_close(candidate.apply_rope(x, torch.arange(7)), "output")


@check("At position 0 nothing turns", category="values", points=1, after="output_shape")
def test_position_zero(candidate, draw):
    x = tokens(draw)

    answer = candidate.apply_rope(x, torch.zeros(L, dtype=torch.int64))

    assert_close(answer, "output")


@check("Every pair of features keeps its length", category="values", points=1, after="output_shape")
def test_norms(candidate, draw):
    for width in (2, 10):
        x = tokens(draw, L=4, D=width)

        answer = candidate.apply_rope(x, torch.tensor([3, 1, 4, 15]))

        if not torch.allclose(answer.output.norm(dim=-1), x.norm(dim=-1), rtol=1e-3):
            fail("the length of a turned vector is not that of the vector: this is no rotation")


@check(
    "q · k depends on the distance of their positions alone",
    category="values",
    points=2,
    after="output_shape",
)
def test_relative_distance(candidate, draw):
    q, k = tokens(draw, L=7, D=8), tokens(draw, L=7, D=8)
    positions = torch.tensor([0, 3, 1, 4, 11, 5, 9])
    products = []
    for shift in (0, 1, 30):
        at = positions + shift
        turned_q, turned_k = candidate.apply_rope(q, at), candidate.apply_rope(k, at)
        products.append(turned_q.output @ turned_k.output.transpose(-2, -1))

    for shifted in products[1:]:
        if not torch.allclose(shifted, products[0], rtol=1e-3, atol=1e-3):
            fail("moving q and k by the same distance changes their products")


@check(
    "Positions need not begin at 0",
    category="values",
    points=3,
    after="output_shape",
)
def test_positions_from_anywhere(candidate, draw):
    for first in (1, 7, 57, 200):
        assert_close(candidate.apply_rope(tokens(draw), torch.arange(first, first + L)), "output")
    assert_close(candidate.apply_rope(tokens(draw, L=1), torch.tensor([57])), "output")


@check(
    "Positions may have gaps, come in any order, and repeat",
    category="values",
    points=3,
    after="output_shape",
)
def test_positions_in_any_order(candidate, draw):
    for _ in range(2):
        assert_close(candidate.apply_rope(tokens(draw), distinct(draw, L, 100)), "output")
    repeated = torch.tensor([0, 1, 2, 0, 1])  # two sequences packed into one
    assert_close(candidate.apply_rope(tokens(draw), repeated), "output")
    # first, last, least and largest are as in a row, and so is the sum
    for between in ([2, 1, 3], [3, 2, 1], [1, 1, 4], [2, 3, 1]):
        positions = 50 + torch.tensor([0, *between, 4])
        assert_close(candidate.apply_rope(tokens(draw), positions), "output")


@check("Other bases than 10000", category="values", points=2, after="output_shape")
def test_other_bases(candidate, draw):
    for base in (10000.0, 500000.0, 100.0, 1234.5, 2.0, 2.5):
        assert_close(candidate.apply_rope(tokens(draw), 3 + torch.arange(L), base), "output")


@check(
    "Sizes of 1 are sizes like others: B, H or L = 1, and D = 2",
    category="shape",
    points=1,
    after="output_shape",
)
def test_size_one(candidate, draw):
    for name in ("B", "H", "L", "D", "B H", "B H L"):
        n = {"B": B, "H": H, "L": L, "D": D}
        n.update(dict.fromkeys(name.split(), 1))
        x = tokens(draw, n["B"], n["H"], n["L"], max(2, n["D"]))

        assert_close(candidate.apply_rope(x, 2 + torch.arange(n["L"])), "output")


@check(
    "B = H = L = D hides nothing: square inputs are right too",
    category="values",
    points=1,
    after="output_shape",
)
def test_square(candidate, draw):
    assert_close(candidate.apply_rope(tokens(draw, 4, 4, 4, 4), torch.arange(4)), "output")
    assert_close(candidate.apply_rope(tokens(draw, 2, 7, 7, 14), 5 + torch.arange(7)), "output")


@check(
    "Positions up to 10 000, all tokens far on or only one",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_far_positions(candidate, draw):
    positions = torch.tensor([0, 1023, 4999, 9999, 10_000])

    assert_close(candidate.apply_rope(tokens(draw), positions), "output")
    assert_close(candidate.apply_rope(tokens(draw, L=1), positions[-1:]), "output")


@check("Positions may be int32 or int64", category="robustness", points=1, after="values")
def test_integer_types(candidate, draw):
    for dtype in (torch.int32, torch.int64):
        assert_close(candidate.apply_rope(tokens(draw), (3 + torch.arange(L)).to(dtype)), "output")


@check("float64 in, float64 out", category="numerics", points=1, after="values")
def test_float64(candidate, draw):
    assert_close(candidate.apply_rope(tokens(draw, dtype=torch.float64), torch.arange(L)), "output")


@check(
    "bfloat16 in, bfloat16 out, and the same for float16",
    category="numerics",
    points=2,
    after="values",
)
def test_half_precision(candidate, draw):
    for dtype in (torch.bfloat16, torch.float16):
        assert_close(candidate.apply_rope(tokens(draw, dtype=dtype), torch.arange(L)), "output")


@check(
    "Half precision does not blur the positions",
    category="numerics",
    points=2,
    after="half_precision",
)
def test_half_precision_far_on(candidate, draw):
    for dtype in (torch.bfloat16, torch.float16):
        x = tokens(draw, dtype=dtype)

        assert_close(candidate.apply_rope(x, torch.tensor([301, 777, 1001, 1003, 2999])), "output")
        assert_close(candidate.apply_rope(x, 1000 + torch.arange(L)), "output")
        for position in (1001, 2999):
            one = torch.tensor([position])
            assert_close(candidate.apply_rope(x[..., :1, :], one), "output")
            assert_close(candidate.apply_rope(x[..., :1, :2], one), "output")


@check("Gradients reach x, and are right", category="gradients", points=3, after="output_shape")
def test_gradients(candidate, draw):
    cotangents = [draw.normal(B, H, L, D)]

    assert_gradients_match(
        candidate.apply_rope, tokens(draw), 3 + torch.arange(L), wrt=(0,), cotangents=cotangents
    )
    # sizes that nothing was asked for before: what is kept under inference_mode has no gradients
    for first, width in ((3, 26), (0, 28)):
        x, positions, base = tokens(draw, L=6, D=width), first + torch.arange(6), 3456.0
        candidate.apply_rope.observe(x, positions, base, mode="inference_mode")
        cotangents = [draw.normal(B, H, 6, width)]
        assert_gradients_match(
            candidate.apply_rope, x, positions, base, wrt=(0,), cotangents=cotangents
        )


@check(
    "Strided inputs, as transposing and slicing make them, give the same",
    category="robustness",
    points=1,
    after="values",
)
def test_non_contiguous(candidate, draw):
    transposed = draw.normal(B, L, H, D).transpose(1, 2)  # heads split off a projection
    sliced = draw.normal(B, H, L, 2 * D)[..., ::2]
    for x in (transposed, sliced):
        assert_close(candidate.apply_rope(x, torch.arange(2 * L)[1::2]), "output")


@check("The inputs are left as they were", category="robustness", points=2, after="output_shape")
def test_input_unchanged(candidate, draw):
    assert_inputs_unchanged(candidate.apply_rope, tokens(draw), 3 + torch.arange(L))


@check(
    "The same call gives the same answer, whatever was called in between",
    category="robustness",
    points=1,
    after="values",
)
def test_repeatable(candidate, draw):
    x, positions = tokens(draw), torch.arange(L)

    assert_close(candidate.apply_rope(x, positions), "output")
    assert_close(candidate.apply_rope(x, positions + 9), "output")
    assert_close(candidate.apply_rope(x, positions, 100.0), "output")
    assert_close(candidate.apply_rope(tokens(draw, L=3, D=6), positions[:3]), "output")
    for between in ([1, 5, 6], [2, 4, 6], [4, 2, 6]):  # as many, with the same ends and sum
        assert_close(candidate.apply_rope(x, torch.tensor([0, *between, 9])), "output")
    assert_close(candidate.apply_rope(x.double(), positions), "output")
    assert_close(candidate.apply_rope(x, positions), "output")

    # a width that no other check asks for: what is kept must not be in the dtype of its first call
    wide = tokens(draw, D=24)
    for x in (wide.bfloat16(), wide, wide.double()):
        assert_close(candidate.apply_rope(x, positions), "output")


@check("An odd D raises", category="robustness", points=1, after="output_shape")
def test_bad_width(candidate, draw):
    for width in (3, 5, 7, 9):
        why = f"{width} features, which cannot be paired"
        assert_rejected(candidate.apply_rope, tokens(draw, D=width), torch.arange(L), why=why)


@check(
    "More positions than tokens raise, and fewer do",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_bad_positions(candidate, draw):
    for dtype in (torch.float32, torch.bfloat16):
        x = tokens(draw, dtype=dtype)
        assert_rejected(candidate.apply_rope, x, torch.arange(L + 1), why="a position too many")
        assert_rejected(candidate.apply_rope, x, torch.arange(L - 1), why="a position too few")


@check(
    "float64 inputs give float64 precision",
    category="numerics",
    points=0,
    after="float64",
    advisory=True,
)
def test_float64_precision(candidate, draw):
    answer = candidate.apply_rope(tokens(draw, dtype=torch.float64), 50 + torch.arange(L))

    if (answer.output - answer.expected["output"].exact).abs().max() > 1e-10:
        fail("computes angles in float32: float64 inputs come out with float32 precision")


@check(
    "No Python loop over positions or features",
    category="policy",
    points=0,
    after="values",
    advisory=True,
)
def test_no_loop(candidate, draw):
    rope = candidate.apply_rope
    few, many = (rope.observe(tokens(draw, L=n), torch.arange(n)) for n in (3, 24))
    assert_operations_do_not_grow(few, many, "positions")

    narrow, wide = (rope.observe(tokens(draw, D=d), torch.arange(L)) for d in (4, 32))
    assert_operations_do_not_grow(narrow, wide, "features")


@check(
    "On a GPU in float32, bfloat16 and float16: the same values",
    category="gpu",
    points=2,
    after="values",
)
def test_gpu_values(gpu, draw):
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        x = tokens(draw, dtype=dtype)
        positions = torch.arange(L)

        assert_close(gpu.apply_rope(x, positions), "output")


@check(
    "On a GPU: what is computed and returned stays there",
    category="gpu",
    points=2,
    after="gpu_values",
)
def test_gpu_device(gpu, draw):
    assert_stays_on_device(gpu, gpu.apply_rope, tokens(draw), torch.arange(L))
