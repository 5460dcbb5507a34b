"""Self-attention: what the padding, the caller's mask or causality blocks gets no weight."""

# B batch  L length  H heads  D head size  E = H·D width

import torch
from graders.shared import self_attention

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_inputs_unchanged,
    assert_no_extra_parameters,
    assert_rejected,
    assert_written_from_scratch,
    check,
    fail,
    restated,
)
from mha_judge.grading.checks.dropout import (
    assert_gradients_of_dropped_weights,
    assert_share,
    nearly,
)

E, H = 33, 3  # D = 11
B, L = 2, 7
MAPS = ("q_proj", "k_proj", "v_proj", "out_proj")


def layer_of(candidate, embed_dim=E, num_heads=H, dtype=torch.float32, **options):
    return candidate.SelfAttention(embed_dim=embed_dim, num_heads=num_heads, dtype=dtype, **options)


def blocked(draw, *shape, keep=0.6):
    """Return a bool mask of the contract: True blocks; no row is blocked as a whole."""
    return ~draw.mask(*shape, keep=keep)


def all_masks(draw, key=0, B=B, L=L):
    """Return a padding mask, and a mask for each head, that both leave one key open."""
    padding = blocked(draw, B, L)
    mask = blocked(draw, B, H, L, L)
    padding[:, key] = False
    mask[..., key] = False
    return padding, mask


def additive(draw, mask):
    """Return a float mask: normal numbers, and −∞ where a boolean mask blocks."""
    return draw.normal(*mask.shape).masked_fill(mask, -torch.inf)


test_constructor = restated(
    self_attention.test_constructor,
    "Is made with (embed_dim, num_heads), and has maps for q, k, v and the output",
)


@check(
    "Has no parameters but the four maps: 4E² and 4E of biases; bias=False leaves these out",
    category="cost",
    points=2,
    after="constructor",
)
def test_parameter_count(candidate, draw):
    assert_no_extra_parameters(layer_of(candidate))
    for options in ({}, {"causal": True}):
        bare = layer_of(candidate, bias=False, **options)
        if bare.parameter_count != 4 * E * E:
            fail(f"has {bare.parameter_count} parameters with bias=False; {4 * E * E} are wanted")


test_output_shape = self_attention.test_output_shape


@check(
    "The output is right on several random shapes, with biases and without",
    category="values",
    points=4,
    after="output_shape",
)
def test_values(candidate, draw):
    for bias in (True, False, True):
        n = draw.sizes("B L H D", (2, 3, 5, 7, 11))
        width = n["H"] * n["D"]

        layer = layer_of(candidate, width, n["H"], bias=bias)

        assert_close(layer(draw.normal(n["B"], n["L"], width)), "output")
    assert_close(layer_of(candidate)(draw.normal(1, 131, E)), "output")


@check(
    "Heads are independent: 1 head, E heads, and in between",
    category="values",
    points=1,
    after="output_shape",
)
def test_number_of_heads(candidate, draw):
    for heads in (1, 2, 6, 30):
        assert_close(layer_of(candidate, 30, heads)(draw.normal(B, L, 30)), "output")


@check(
    "Batch items are independent, and B = 1 and L = 1 are sizes like others",
    category="values",
    points=1,
    after="output_shape",
)
def test_batch_items(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(3, L, E)

    assert_close(layer(x), "output")
    assert_close(layer(x[1:2]), "output")
    assert_close(layer(x[:, :1]), "output")
    assert_close(layer(x[:1, :1]), "output")


@check(
    "key_padding_mask (B, L): True is padding, and no query attends to it",
    category="masking",
    points=4,
    after="output_shape",
)
def test_padding(candidate, draw):
    layer = layer_of(candidate)
    for batch, length in ((2, 7), (5, 5), (1, 3)):  # B = L too
        x = draw.normal(batch, length, E)

        assert_close(layer(x, blocked(draw, batch, length)), "output")


@check(
    "A boolean attn_mask (L, L): True blocks",
    category="masking",
    points=4,
    after="output_shape",
)
def test_boolean_mask(candidate, draw):
    layer = layer_of(candidate)
    for batch, length in ((2, 7), (5, 5), (1, 3)):
        x = draw.normal(batch, length, E)

        assert_close(layer(x, None, blocked(draw, length, length)), "output")


@check(
    "A float attn_mask is added to the scaled scores",
    category="masking",
    points=3,
    after="output_shape",
)
def test_float_mask(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(B, L, E)
    mask = blocked(draw, L, L)

    assert_close(layer(x, None, torch.zeros(L, L).masked_fill(mask, -torch.inf)), "output")
    assert_close(layer(x, None, draw.normal(L, L)), "output")
    assert_close(layer(x, None, additive(draw, mask)), "output")
    assert_close(layer(x, None, mask.float()), "output")  # numbers like others, though 0 and 1


@check(
    "attn_mask (B, 1, L, L) differs from item to item, and (B, H, L, L) from head to head",
    category="masking",
    points=3,
    after="output_shape",
)
def test_mask_shapes(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(B, L, E)
    for heads in (1, H):
        mask = blocked(draw, B, heads, L, L)

        assert_close(layer(x, None, mask), "output")
        assert_close(layer(x, None, additive(draw, mask)), "output")


@check(
    "causal=True: a position attends to itself and what comes before, at any length",
    category="masking",
    points=3,
    after="output_shape",
)
def test_causal(candidate, draw):
    layer = layer_of(candidate, causal=True)
    for batch, length in ((2, 7), (2, 1), (2, 37), (1, 1031), (1, 5), (7, 7)):
        # of a thousand scores none is so low that rounding decides: other checks have low ones
        scale = 0.5 if length > 1_000 else 1.0
        assert_close(layer(scale * draw.normal(batch, length, E)), "output")
    assert_close(layer_of(candidate, num_heads=1, causal=True)(draw.normal(B, L, E)), "output")
    x = draw.normal(B, L, E)
    x[:, 3] = 0  # without biases its scores are exactly 0, and scores like others
    assert_close(layer_of(candidate, causal=True, bias=False)(x), "output")


@check(
    "A mask together with causal=True: what either blocks is blocked",
    category="masking",
    points=3,
    after="causal",
)
def test_mask_and_causal(candidate, draw):
    layer = layer_of(candidate, causal=True)
    x = draw.normal(B, L, E)
    padding, mask = all_masks(draw)

    assert_close(layer(x, padding), "output")
    assert_close(layer(x, None, mask[0, 0]), "output")
    assert_close(layer(x, None, mask), "output")
    assert_close(layer(x, None, additive(draw, mask)), "output")


@check(
    "Both masks together, and all three: what any of them blocks is blocked",
    category="masking",
    points=4,
    after=("padding", "boolean_mask"),
)
def test_masks_together(candidate, draw):
    x = draw.normal(B, L, E)
    layer = layer_of(candidate)
    for key in (2, 5):
        padding, mask = all_masks(draw, key)
        assert_close(layer(x, padding, mask[0, 0]), "output")
        assert_close(layer(x, padding, mask), "output")

    layer = layer_of(candidate, causal=True)
    padding, mask = all_masks(draw)
    assert_close(layer(x, padding, mask[0, 0]), "output")
    assert_close(layer(x, padding, mask[:, :1]), "output")
    assert_close(layer(x, padding, mask), "output")


@check(
    "A float mask together with padding, and with causal=True as well",
    category="masking",
    points=2,
    after=("padding", "float_mask"),
)
def test_float_mask_together(candidate, draw):
    x = draw.normal(B, L, E)
    padding, mask = all_masks(draw)
    for causal in (False, True):
        layer = layer_of(candidate, causal=causal)

        assert_close(layer(x, padding, draw.normal(L, L)), "output")
        assert_close(layer(x, padding, additive(draw, mask[:, :1])), "output")
        assert_close(layer(x, padding, additive(draw, mask)), "output")


@check(
    "A blocked position has no influence, whatever it holds",
    category="masking",
    points=3,
    after="output_shape",
)
def test_blocked_key_is_not_felt(candidate, draw):
    layer = layer_of(candidate)
    padding, mask = all_masks(draw, 3)
    padding[:, 2] = True
    mask[..., 2] = True
    for scale in (20, 25):  # unmasked, it would take all the weight of some queries
        x = draw.normal(B, L, E)
        x[:, 2] = scale * x[:, 2]

        assert_close(layer(x, padding), "output")
        assert_close(layer(x, None, mask[0, 0]), "output")
        assert_close(layer(x, padding, mask), "output")

    layer = layer_of(candidate, causal=True)
    x = draw.normal(B, L, E)
    x[:, -1] = 300 * x[:, -1]
    answer = layer(x)
    assert_close(answer, "output")
    earlier = layer(x[:, :-1])
    assert_close(earlier, "output")
    if not torch.allclose(answer.output[:, :-1], earlier.output, rtol=1e-4, atol=1e-4):
        fail("a later position changes the output of earlier ones")


@check(
    "A row in which every key is blocked does not disturb the others",
    category="masking",
    points=1,
    after="boolean_mask",
)
def test_blocked_row_stays_alone(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(B, L, E)
    open_mask = blocked(draw, L, L)
    mask = open_mask.clone()
    mask[1] = True
    others = [0, 2, 3, 4, 5, 6]

    answer, alone = layer(x, None, mask), layer(x, None, open_mask)

    assert_close(alone, "output")
    if not torch.allclose(answer.output[:, others], alone.output[:, others], rtol=1e-4, atol=1e-5):
        fail("a blocked row changes the output of other rows")


@check(
    "need_weights=True returns each head's weights (B, H, L, L) beside the output",
    category="values",
    points=3,
    after="output_shape",
)
def test_weights(candidate, draw):
    x = draw.normal(B, L, E)

    answer = layer_of(candidate)(x, None, None, True)

    assert_close(answer, "output", "weights")


@check(
    "Masked weights are exact: 0 where blocked, rows sum to 1",
    category="masking",
    points=2,
    after=("weights", "padding", "boolean_mask", "float_mask"),
)
def test_masked_weights(candidate, draw):
    x = draw.normal(B, L, E)
    padding, mask = all_masks(draw)
    for causal in (False, True):
        answer = layer_of(candidate, causal=causal)(x, padding, mask, True)

        assert_close(answer, "output", "weights")
        closed = padding[:, None, None, :] | mask
        closed = closed | torch.ones(L, L, dtype=torch.bool).triu(1) if causal else closed
        if bool((answer.weights * closed).any()):
            fail("a blocked key weighs more than 0")
    answer = layer_of(candidate)(x, padding, additive(draw, mask), True)
    assert_close(answer, "output", "weights")


@check(
    "Without need_weights no weights come back",
    category="values",
    points=1,
    after="output_shape",
)
def test_weights_on_request(candidate, draw):
    x = draw.normal(B, L, E)
    layer = layer_of(candidate)
    for given in ((), (None, None, False)):
        answer = layer(x, *given)

        assert_close(answer, "output")
        if answer.has("weights"):
            fail("returns weights that nobody asked for; None is wanted in their place")


@check(
    "Large logits stay finite and right, with masks too",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_large_logits(candidate, draw):
    layer = layer_of(candidate)
    for scale in (30.0, 100.0):
        assert_close(layer(scale * draw.normal(B, L, E)), "output")
    for scale in (10.0, 20.0):
        mask = blocked(draw, L, L, keep=0.2)  # a few open keys, some of them with low scores
        assert_close(layer(scale * draw.normal(B, L, E), None, mask), "output")


@check("float64 in, float64 out", category="numerics", points=1, after="values")
def test_float64(candidate, draw):
    layer = layer_of(candidate, dtype=torch.float64)
    x = draw.normal(B, L, E, dtype=torch.float64)
    padding, mask = all_masks(draw)

    assert_close(layer(x), "output")
    assert_close(layer(x, padding, mask), "output")
    assert_close(layer(x, padding, draw.normal(L, L, dtype=torch.float64)), "output")


@check("bfloat16 in, bfloat16 out, with masks too", category="numerics", points=1, after="values")
def test_bfloat16(candidate, draw):
    layer = layer_of(candidate, dtype=torch.bfloat16, causal=True)
    x = draw.normal(B, L, E, dtype=torch.bfloat16)
    padding, mask = all_masks(draw)

    assert_close(layer(x), "output")
    assert_close(layer(x, padding, mask), "output")
    assert_close(layer(x, padding, draw.normal(L, L, dtype=torch.bfloat16)), "output")


test_float16 = self_attention.test_float16


@check(
    "Gradients reach x and the weights, and are right",
    category="gradients",
    points=3,
    after="output_shape",
)
def test_gradients(candidate, draw):
    cotangents = [draw.normal(B, L, E)]
    padding, mask = all_masks(draw)
    for causal in (False, True):
        layer = layer_of(candidate, causal=causal)

        assert_gradients_match(
            layer,
            draw.normal(B, L, E),
            padding,
            mask,
            wrt=(0,),
            cotangents=cotangents,
            parameters=True,
        )
    assert_gradients_match(
        layer_of(candidate), draw.normal(B, L, E), wrt=(0,), cotangents=cotangents, parameters=True
    )


@check("A float mask may be learned", category="gradients", points=1, after="float_mask")
def test_gradient_of_mask(candidate, draw):
    cotangents = [draw.normal(B, L, E)]
    padding = blocked(draw, B, L)
    for shape in ((L, L), (B, 1, L, L), (B, H, L, L)):
        assert_gradients_match(
            layer_of(candidate),
            draw.normal(B, L, E),
            padding,
            draw.normal(*shape),
            wrt=(0, 2),
            cotangents=cotangents,
        )


@check("dropout does nothing in eval()", category="robustness", points=1, after="output_shape")
def test_dropout_in_eval(candidate, draw):
    for causal in (False, True):
        layer = layer_of(candidate, dropout=0.5, causal=causal)
        x = draw.normal(B, L, E)

        assert_close(layer(x), "output")
        layer.train(True)
        layer(x)
        layer.train(False)
        assert_close(layer(x), "output")


@check(
    "In training each weight is dropped with probability p, and divided by 1 − p if it is kept",
    category="robustness",
    points=3,
    after=("values", "dropout_in_eval"),
)
def test_dropout_in_training(candidate, draw):
    p, draws = 0.4, 3000

    # Other scores would not show between equal positions; they tell them from no dropout at all.
    in_training(layer_of(candidate, 11, 1, dropout=p, bias=False), draw.normal(1, L, 11))

    # Two equal positions: each output is (kept keys / 2) / (1 − p) times what eval() gives.
    layer = layer_of(candidate, 11, 1, dropout=p, bias=False)
    found, full = in_training(layer, draw.normal(1, 1, 11).repeat(draws, 2, 1))
    kept = (parts_of(found, full) * 2 * (1 - p)).round()  # (draws, 2)
    if not nearly(found, kept[..., None] * full / 2 / (1 - p), full).all():
        fail(
            "in training an output is not a sum of values, each dropped or divided by 1 − p: "
            "dropout acts on something else than the weights, or scales otherwise"
        )
    chance = [p * p, 2 * p * (1 - p), (1 - p) ** 2]  # of 0, 1 or 2 keys that are kept
    for one in range(3):
        for other in range(3):
            both = (kept[:, 0] == one) & (kept[:, 1] == other)
            assert_share(both, chance[one] * chance[other])

    # One position, three heads: all are dropped in p³ of the draws, none in (1 − p)³.
    layer = layer_of(candidate, 33, 3, dropout=p, bias=False)
    found, full = in_training(layer, draw.normal(1, 1, 33).repeat(1000, 1, 1))
    assert_share(nearly(found, 0 * full, full), p**3)
    assert_share(nearly(found, full / (1 - p), full), (1 - p) ** 3)

    layer.train(False)
    assert_close(layer(draw.normal(B, L, 33)), "output")

    # The same under masks that block nothing of one position, and where the weights are wanted.
    x, open_ = draw.normal(1, 1, 33).repeat(1000, 1, 1), torch.zeros(1000, 1).bool()
    added = torch.zeros(1000, 3, 1, 1)
    for causal in (False, True):
        layer = layer_of(candidate, 33, 3, dropout=p, bias=False, causal=causal)
        for masks in ((open_,), (None, open_[:1]), (open_, added), (None, added.bool(), True)):
            found, full = in_training(layer, x, *masks)
            assert_share(nearly(found, 0 * full, full), p**3)
            assert_share(nearly(found, full / (1 - p), full), (1 - p) ** 3)
    layer = layer_of(candidate, 11, 1, dropout=p, bias=False)
    assert_gradients_of_dropped_weights(layer, draw.normal(1, 2, 11), p=p, maps=MAPS)


def in_training(layer, *inputs):
    """Return what a layer gives in training, and what it should give in eval(), (B, L, E)."""
    layer.train(True)
    answer = layer(*inputs)
    return answer.output.double(), answer.expected["output"].exact


def parts_of(found, full):
    """Return which multiple of `full` each of the found vectors is, (B, L)."""
    return (found * full).sum(-1) / (full * full).sum(-1)


@check(
    "Strided inputs, as transposing makes them, give the same",
    category="robustness",
    points=1,
    after="values",
)
def test_non_contiguous(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(L, B, E).transpose(0, 1)
    padding = blocked(draw, L, B).T
    padding[:, 0] = False
    mask = blocked(draw, L, L).T.contiguous().T

    assert_close(layer(x), "output")
    assert_close(layer(draw.normal(B, E, L).transpose(1, 2)), "output")
    assert_close(layer(x, padding), "output")
    assert_close(layer(x, None, mask), "output")


@check("The inputs are left as they were", category="robustness", points=1, after="output_shape")
def test_inputs_unchanged(candidate, draw):
    x = draw.normal(B, L, E)
    padding, mask = all_masks(draw)
    for causal in (False, True):
        layer = layer_of(candidate, causal=causal)

        assert_inputs_unchanged(layer, x)
        assert_inputs_unchanged(layer, x, padding)
        added = (draw.normal(L, L), draw.normal(B, 1, L, L), draw.normal(B, H, L, L))
        for one in (mask[0, 0], mask[:, :1], mask, *added):
            assert_inputs_unchanged(layer, x, None, one.clone())
            assert_inputs_unchanged(layer, x, padding, one.clone())


@check(
    "The same call gives the same answer, whatever was called or made in between",
    category="robustness",
    points=2,
    after="values",
)
def test_repeatable(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(B, L, E)
    padding, mask = all_masks(draw)

    assert_close(layer(x, padding, mask), "output")
    assert_close(layer(draw.normal(1, 3, E)), "output")
    assert_close(layer(x), "output")
    assert_close(layer(x, None, mask), "output")
    assert_close(layer(x, padding), "output")
    assert_close(layer(x, padding, mask), "output")
    for options in ({}, {"num_heads": 1, "causal": True}):  # made later
        layer_of(candidate, **options)
        assert_close(layer(x, padding, mask), "output")


@check(
    "A width that the heads do not divide raises",
    category="robustness",
    points=1,
    after="constructor",
)
def test_bad_heads(candidate, draw):
    assert_rejected(
        candidate.SelfAttention, 10, 3, 0.0, True, False, why="embed_dim 10 with 3 heads"
    )


@check(
    "An input of another width raises, and so does padding of another length",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_bad_inputs(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(B, L, E + 1)

    assert_rejected(layer, x, why="an input wider than embed_dim")
    assert_rejected(layer, x[..., : E - 1], why="an input narrower than embed_dim")
    assert_rejected(
        layer, x[..., :E], blocked(draw, B, L - 1), why="a key_padding_mask shorter than x"
    )


@check(
    "Written from scratch: no fused or official attention",
    category="policy",
    points=3,
    after="values",
)
def test_written_from_scratch(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(B, L, E)
    padding, mask = all_masks(draw)

    assert_written_from_scratch(candidate, layer, x)
    assert_written_from_scratch(candidate, layer, x, padding, mask)
    assert_written_from_scratch(candidate, layer, x, None, draw.normal(L, L), True)
    assert_written_from_scratch(candidate, layer_of(candidate, causal=True), x)


test_no_loop_over_heads = self_attention.test_no_loop_over_heads
test_float64_precision = self_attention.test_float64_precision


@check("float16 with masks", category="numerics", points=0, after="boolean_mask", advisory=True)
def test_float16_with_mask(candidate, draw):
    padding, mask = all_masks(draw)
    layer = layer_of(candidate, dtype=torch.float16)

    assert_close(layer(draw.normal(B, L, E, dtype=torch.float16), padding, mask), "output")
