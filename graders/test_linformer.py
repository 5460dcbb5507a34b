"""Linformer: keys and values are projected from L positions to K before they are attended to."""

# B batch  L length  K compressed length  H heads  D head size  E = H·D width

import torch
from graders.shared import self_attention, without_masks

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_grows_at_most,
    assert_operations_do_not_grow,
    assert_rejected,
    check,
    fail,
    restated,
    ways_to_observe,
)

E, H = 33, 3  # D = 11
B, L, K = 2, 13, 5


def layer_of(candidate, embed_dim=E, num_heads=H, seq_len=L, proj_len=K, dtype=torch.float32):
    return candidate.LinformerSelfAttention(
        embed_dim=embed_dim, num_heads=num_heads, seq_len=seq_len, proj_len=proj_len, dtype=dtype
    )


test_constructor = restated(
    self_attention.test_constructor,
    "Is made with (embed_dim, num_heads, seq_len, proj_len); has two maps from seq_len to proj_len",
    points=3,
)
test_parameter_count = restated(
    self_attention.test_parameter_count, "Has no parameters but four maps and two length maps"
)
test_output_shape = restated(
    self_attention.test_output_shape,
    "Returns (B, L, E): the queries are not shortened",
    points=3,
)


@check(
    "Keys and values are each projected along the length by their own map",
    category="values",
    points=5,
    after="output_shape",
)
def test_values(candidate, draw):
    for heads, D, length, short in ((3, 11, 13, 5), (2, 5, 7, 3), (5, 3, 23, 2), (2, 5, 301, 130)):
        layer = layer_of(candidate, heads * D, heads, length, short)
        assert_close(layer(draw.normal(B, length, heads * D)), "output")


@check("Other sizes: batch, length, heads", category="values", points=2, after="output_shape")
def test_sizes(candidate, draw):
    for heads, D in ((2, 7), (3, 5)):
        n = draw.sizes("B L K", (2, 3, 5, 11, 13, 17))
        length, short = max(n["L"], n["K"]), min(n["L"], n["K"])
        layer = layer_of(candidate, heads * D, heads, length, short)
        assert_close(layer(draw.normal(n["B"], length, heads * D)), "output")
    # a length is a length where it equals a width, too
    for heads, D, length, short in (
        (2, 5, 10, 3), (2, 5, 13, 10), (2, 5, 10, 10), (3, 7, 7, 3), (2, 5, 11, 5), (3, 5, 7, 3)
    ):  # fmt: skip
        layer = layer_of(candidate, heads * D, heads, length, short)
        assert_close(layer(draw.normal(heads, length, heads * D)), "output")


@check(
    "The compressed length may be 1, or as large as the length",
    category="values",
    points=2,
    after="output_shape",
)
def test_extreme_lengths(candidate, draw):
    few = [(draw.integer(30, 99), draw.integer(2, 3)) for _ in range(6)]
    for length, short in ((7, 1), (7, 7), (1, 1), *few):
        layer = layer_of(candidate, seq_len=length, proj_len=short)
        assert_close(layer(draw.normal(B, length, E)), "output")


@check(
    "Every position reaches every output, the last one the first",
    category="values",
    points=2,
    after="output_shape",
)
def test_all_positions_are_felt(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(B, L, E)
    changed = x.clone()
    changed[:, -1] = 5 * draw.normal(B, E)

    before, after = layer(x), layer(changed)

    assert_close(before, "output")
    assert_close(after, "output")
    if torch.allclose(before.output[:, 0], after.output[:, 0], rtol=1e-3, atol=1e-4):
        fail("the first output does not change when the last position does")


test_batch_items = without_masks.test_batch_items


@check(
    "Sizes of 1 are sizes like others: B = 1, H = 1, D = 1",
    category="shape",
    points=1,
    after="output_shape",
)
def test_size_one(candidate, draw):
    for batch, heads, width in ((1, 3, 33), (2, 1, 11), (2, 5, 5), (1, 1, 2)):
        layer = layer_of(candidate, width, heads, 7, 3)
        assert_close(layer(draw.normal(batch, 7, width)), "output")


test_large_logits = restated(without_masks.test_large_logits, after="values")
test_float64 = restated(without_masks.test_float64, after="values")


test_bfloat16 = restated(without_masks.test_bfloat16, after="values")


test_float16 = restated(self_attention.test_float16, "float16 in, float16 out")


@check(
    "Gradients reach x and all six maps, and are right",
    category="gradients",
    points=4,
    after="output_shape",
)
def test_gradients(candidate, draw):
    cotangents = [draw.normal(B, L, E)]

    assert_gradients_match(
        layer_of(candidate), draw.normal(B, L, E), wrt=(0,), cotangents=cotangents, parameters=True
    )


@check(
    "Time and memory grow in proportion to the length",
    category="cost",
    points=4,
    after="values",
)
def test_linear_in_length(candidate, draw):
    for words, how in (("", {}), *ways_to_observe(draw, 1)):
        short, long = (
            layer_of(candidate, 24, 4, length, 8).observe(draw.normal(1, length, 24), **how)
            for length in (128, 256)
        )

        what = f"from length 128 to 256{words and ', '}{words},"
        assert_grows_at_most(
            short.largest_elements, long.largest_elements, 2.2, f"the largest intermediate, {what}"
        )
        assert_grows_at_most(short.flops, long.flops, 2.2, f"the number of operations, {what}")


test_non_contiguous = restated(without_masks.test_non_contiguous, after="values")


test_inputs_unchanged = without_masks.test_inputs_unchanged
test_repeatable = restated(without_masks.test_repeatable, after="values")


@check(
    "A width that the heads do not divide raises, an input of another width too",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_bad_sizes(candidate, draw):
    assert_rejected(candidate.LinformerSelfAttention, 10, 3, 7, 2, why="embed_dim 10 with 3 heads")
    assert_rejected(
        layer_of(candidate),
        draw.normal(B, L, E - 1),
        why="an input of another width than embed_dim",
    )


@check("An input longer than seq_len raises", category="robustness", points=1, after="output_shape")
def test_too_long(candidate, draw):
    layer = layer_of(candidate)
    for length in (L + 1, L + 2, 2 * L - 1, 2 * L, 2 * L + 1, 3 * L, draw.integer(5 * L, 9 * L)):
        why = f"an input of {length} positions where seq_len is {L}"
        assert_rejected(layer, draw.normal(B, length, E), why=why)
    for most in (64, 512):  # as long as an answer's blocks may be
        why = f"an input of {most + 8} positions where seq_len is {most}"
        long = layer_of(candidate, seq_len=most)
        assert_rejected(long, draw.normal(B, most + 8, E), why=why)


test_written_from_scratch = restated(without_masks.test_written_from_scratch, after="values")


@check(
    "No Python loop over heads or positions",
    category="policy",
    points=0,
    after="output_shape",
    advisory=True,
)
def test_no_loop(candidate, draw):
    short, long = (layer_of(candidate, seq_len=n).observe(draw.normal(B, n, E)) for n in (7, 19))
    assert_operations_do_not_grow(short, long, "positions")

    few, many = (layer_of(candidate, 24, n).observe(draw.normal(B, L, 24)) for n in (2, 8))
    assert_operations_do_not_grow(few, many, "heads")


test_float64_precision = self_attention.test_float64_precision
