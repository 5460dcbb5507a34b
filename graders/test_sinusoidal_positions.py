"""Sinusoidal positions: sines at even features, cosines at odd ones, from fast to slow."""

import torch

from mha_judge.grading import assert_close, assert_operations_do_not_grow, check, fail


@check(
    "Returns a float32 tensor or a NumPy array of shape (length, d_model)",
    category="shape",
    points=3,
)
def test_output_shape(candidate, draw):
    answer = candidate.positional_encoding(7, 10)

    assert answer.output.shape == (7, 10)


@check(
    "The table is sin and cos of pos / 10000^(2i/d_model), on several random sizes",
    category="values",
    points=5,
    after="output_shape",
)
def test_values(candidate, draw):
    for _ in range(3):
        length, d_model = draw.integer(2, 40), 2 * draw.integer(2, 40)

        assert_close(candidate.positional_encoding(length, d_model), "output")


@check(
    "Position 0 is 0, 1, 0, 1, …: sines in even columns, cosines in odd ones",
    category="values",
    points=3,
    after="output_shape",
)
def test_first_row(candidate, draw):
    for d_model in (2, 6, 16):
        assert_close(candidate.positional_encoding(1, d_model), "output")


@check(
    "Columns 2i and 2i + 1 share an angle: together they lie on the unit circle",
    category="values",
    points=2,
    after="output_shape",
)
def test_unit_circle(candidate, draw):
    for d_model in (6, 16):
        answer = candidate.positional_encoding(23, d_model)

        lengths = answer.output.unflatten(-1, (-1, 2)).norm(dim=-1)
        if not torch.allclose(lengths, torch.ones_like(lengths), rtol=1e-3):
            fail("a pair of columns 2i and 2i + 1 is not the sine and cosine of one angle")


@check(
    "The frequencies run from 1 down to 10000^(−(d−2)/d), for small and for large widths",
    category="values",
    points=3,
    after="output_shape",
)
def test_frequencies(candidate, draw):
    for d_model in (4, 8, 128, 512):
        assert_close(candidate.positional_encoding(5, d_model), "output")


@check(
    "A longer table begins with the shorter one",
    category="values",
    points=2,
    after="output_shape",
)
def test_prefix(candidate, draw):
    d_model = 2 * draw.integer(2, 10)
    short = candidate.positional_encoding(5, d_model)
    long = candidate.positional_encoding(19, d_model)

    if not torch.allclose(long.output[:5], short.output, rtol=1e-4, atol=1e-5):
        fail("the encoding of a position depends on the length of the table")


@check(
    "The product of two encodings depends on their distance alone",
    category="values",
    points=1,
    after="output_shape",
)
def test_distance(candidate, draw):
    table = candidate.positional_encoding(40, 16).output

    for distance in (1, 7):
        products = (table[distance:] * table[:-distance]).sum(-1)
        if not torch.allclose(products, products[:1].expand_as(products), rtol=1e-3, atol=1e-3):
            fail(f"two encodings {distance} apart have another product from place to place")


@check(
    "Sizes of 1 and squares: length = 1, d_model = 2, length = d_model",
    category="shape",
    points=1,
    after="output_shape",
)
def test_special_sizes(candidate, draw):
    for length, d_model in ((1, 2), (1, 8), (9, 2), (8, 8), (2, 16)):
        assert_close(candidate.positional_encoding(length, d_model), "output")


@check("Position 1000 is right too", category="numerics", points=2, after="output_shape")
def test_position_1000(candidate, draw):
    for d_model in (4, 64):
        assert_close(candidate.positional_encoding(1001, d_model), "output")


@check("The table may be as long as is asked for", category="numerics", points=1, after="values")
def test_long_table(candidate, draw):
    assert_close(candidate.positional_encoding(12_007, 4), "output")
    assert_close(candidate.positional_encoding(draw.integer(33_000, 40_000), 2), "output")


@check(
    "An odd width ends with a sine",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_odd_width(candidate, draw):
    for d_model in (3, 7, 11, 65, 1):
        assert_close(candidate.positional_encoding(6, d_model), "output")


@check(
    "The same call gives the same answer, whatever was called in between",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_repeatable(candidate, draw):
    encode = candidate.positional_encoding
    encode.attempt(5, 26, mode="inference_mode")  # a table that grows may have begun there
    for length, d_model in (
        (7, 10), (7, 6), (7, 9), (3, 10), (12, 10), (7, 10), (7, 11), (7, 12), (1, 12), (11, 2),
        (9, 26),
    ):  # fmt: skip
        assert_close(encode(length, d_model), "output")
    for d_model in (256, 512, 1024, 4096):  # which two numbers packed into one do not tell apart
        for length in (2, 3):
            assert_close(encode(length, d_model), "output")


@check(
    "No Python loop over positions or features, as far as PyTorch's operations show it",
    category="policy",
    points=0,
    after="values",
    advisory=True,
)
def test_no_loop(candidate, draw):
    observe = candidate.positional_encoding.observe  # sizes that no other check asks for
    assert_operations_do_not_grow(observe(4, 14), observe(43, 14), "positions")
    assert_operations_do_not_grow(observe(4, 18), observe(4, 66), "features")
