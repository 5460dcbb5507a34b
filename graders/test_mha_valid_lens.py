"""Multi-head attention with valid lengths: three functions and a class, each graded alone."""

# B batch  L query length  S key length  H heads  D head size  E = H·D num_hiddens
# N rows of a folded batch: N = B·H, row b·H + h is head h of item b

import torch
from graders.shared import cross_attention, self_attention

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_inputs_unchanged,
    assert_no_extra_parameters,
    assert_operations_do_not_grow,
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
B, L, S = 2, 5, 7
KEY, QUERY, VALUE = 13, 17, 19
MAPS = ("W_q", "W_k", "W_v", "W_o")


def layer_of(candidate, num_hiddens=E, num_heads=H, dtype=torch.float32, **options):
    sizes = {"key_size": KEY, "query_size": QUERY, "value_size": VALUE, "dropout": 0.0} | options
    return candidate.MultiHeadAttention(
        num_hiddens=num_hiddens, num_heads=num_heads, dtype=dtype, **sizes
    )


def qkv(draw, B=B, L=L, S=S, dtype=torch.float32):
    queries = draw.normal(B, L, QUERY, dtype=dtype)
    keys = draw.normal(B, S, KEY, dtype=dtype)
    values = draw.normal(B, S, VALUE, dtype=dtype)
    return queries, keys, values


def lengths(draw, *shape, S=S):
    """Return lengths from 1 to S; the first is less than S."""
    drawn = [draw.integer(1, S) for _ in range(torch.Size(shape).numel())]
    drawn[0] = min(drawn[0], max(1, S - 1))
    return torch.tensor(drawn).reshape(shape)


# --- transpose_qkv and transpose_output


@check("transpose_qkv returns (B·H, L, D)", category="shape", points=2)
def test_split_shape(candidate, draw):
    answer = candidate.transpose_qkv(draw.normal(2, 5, 21), 3)

    assert answer.output.shape == (6, 5, 7)


@check(
    "Row b·H + h holds head h of item b: the features h·D … h·D+D−1",
    category="values",
    points=4,
    after="split_shape",
)
def test_split_values(candidate, draw):
    for _ in range(3):
        n = draw.sizes("B L H D", (2, 3, 5, 7, 11))
        x = draw.normal(n["B"], n["L"], n["H"] * n["D"])

        assert_close(candidate.transpose_qkv(x, n["H"]), "output")


@check("transpose_qkv where sizes are equal, or 1", category="shape", points=1, after="split_shape")
def test_split_sizes(candidate, draw):
    for B, L, H, D in ((3, 3, 3, 3), (3, 5, 3, 2), (2, 3, 3, 5), (2, 5, 1, 7), (2, 5, 3, 1)):
        assert_close(candidate.transpose_qkv(draw.normal(B, L, H * D), H), "output")
    for B, L, H, D in ((1, 5, 3, 7), (2, 1, 3, 7), (1, 1, 1, 1)):
        assert_close(candidate.transpose_qkv(draw.normal(B, L, H * D), H), "output")


@check("transpose_output returns (B, L, E)", category="shape", points=2)
def test_merge_shape(candidate, draw):
    answer = candidate.transpose_output(draw.normal(6, 5, 7), 3)

    assert answer.output.shape == (2, 5, 21)


@check(
    "transpose_output puts the heads of an item side by side, in order",
    category="values",
    points=4,
    after="merge_shape",
)
def test_merge_values(candidate, draw):
    for _ in range(3):
        n = draw.sizes("B L H D", (2, 3, 5, 7, 11))
        x = draw.normal(n["B"] * n["H"], n["L"], n["D"])

        assert_close(candidate.transpose_output(x, n["H"]), "output")


@check(
    "transpose_output where sizes are equal, or 1", category="shape", points=1, after="merge_shape"
)
def test_merge_sizes(candidate, draw):
    for B, L, H, D in ((3, 3, 3, 3), (3, 5, 3, 2), (2, 3, 3, 5), (2, 5, 1, 7), (2, 5, 3, 1)):
        assert_close(candidate.transpose_output(draw.normal(B * H, L, D), H), "output")
    for B, L, H, D in ((1, 5, 3, 7), (2, 1, 3, 7), (1, 1, 1, 1)):
        assert_close(candidate.transpose_output(draw.normal(B * H, L, D), H), "output")


@check(
    "Both transpositions take strided tensors, and leave them alone",
    category="robustness",
    points=2,
    after=("split_values", "merge_values"),
)
def test_transposed_strided(candidate, draw):
    split, merge = candidate.transpose_qkv, candidate.transpose_output
    for x in (draw.normal(5, 2, 21).transpose(0, 1), draw.normal(2, 21, 5).transpose(1, 2)):
        assert_close(split(x, 3), "output")
        assert_inputs_unchanged(split, x, 3)
    for x in (draw.normal(5, 6, 7).transpose(0, 1), draw.normal(6, 7, 5).transpose(1, 2)):
        assert_close(merge(x, 3), "output")
        assert_inputs_unchanged(merge, x, 3)


@check(
    "Both transpositions keep the dtype, and gradients flow back",
    category="gradients",
    points=1,
    after=("split_values", "merge_values"),
)
def test_transposed_dtypes(candidate, draw):
    for dtype in (torch.float64, torch.bfloat16, torch.float16):
        assert_close(candidate.transpose_qkv(draw.normal(2, 5, 21, dtype=dtype), 3), "output")
        assert_close(candidate.transpose_output(draw.normal(6, 5, 7, dtype=dtype), 3), "output")

    split, merged = draw.normal(6, 5, 7), draw.normal(2, 5, 21)
    assert_gradients_match(candidate.transpose_qkv, merged, 3, wrt=(0,), cotangents=[split])
    assert_gradients_match(candidate.transpose_output, split, 3, wrt=(0,), cotangents=[merged])


@check(
    "A width or a batch that the heads do not divide raises",
    category="robustness",
    points=1,
    after=("split_shape", "merge_shape"),
)
def test_transposed_bad_heads(candidate, draw):
    assert_rejected(candidate.transpose_qkv, draw.normal(2, 5, 21), 4, why="width 21 with 4 heads")
    assert_rejected(candidate.transpose_qkv, draw.normal(2, 3, 10), 3, why="width 10 with 3 heads")
    assert_rejected(
        candidate.transpose_output, draw.normal(7, 5, 4), 3, why="7 rows of a batch with 3 heads"
    )


# --- masked_softmax


@check("masked_softmax(X, None) is the softmax over the last axis", category="values", points=2)
def test_softmax(candidate, draw):
    for _ in range(2):
        n = draw.sizes("N L S", (2, 3, 5, 7, 11))

        assert_close(candidate.masked_softmax(draw.normal(n["N"], n["L"], n["S"]), None), "weights")


@check(
    "valid_lens (N,): in row n of the batch only the first valid_lens[n] positions count",
    category="masking",
    points=4,
    after="softmax",
)
def test_softmax_lengths(candidate, draw):
    for N, L, S in ((2, 5, 7), (5, 3, 7), (6, 2, 1031)):
        x = draw.normal(N, L, S)

        assert_close(candidate.masked_softmax(x, lengths(draw, N, S=S)), "weights")


@check(
    "valid_lens (N, L): each query has a length of its own",
    category="masking",
    points=3,
    after="softmax",
)
def test_softmax_lengths_of_queries(candidate, draw):
    for N, L, S in ((2, 5, 7), (5, 3, 7), (6, 2, 11)):
        x = draw.normal(N, L, S)

        assert_close(candidate.masked_softmax(x, lengths(draw, N, L, S=S)), "weights")


@check(
    "masked_softmax where N = L or L = S, where a size is 1, for the lengths 1 and S",
    category="masking",
    points=2,
    after="softmax_lengths",
)
def test_softmax_sizes(candidate, draw):
    softmax = candidate.masked_softmax
    for N, L, S in ((5, 5, 7), (7, 7, 7), (3, 7, 7), (1, 5, 7), (2, 1, 7), (1, 1, 7), (2, 5, 1)):
        x = draw.normal(N, L, S)

        assert_close(softmax(x, lengths(draw, N, S=S)), "weights")
        assert_close(softmax(x, lengths(draw, N, L, S=S)), "weights")
    assert_close(softmax(draw.normal(2, 5, 7), torch.tensor([1, 7])), "weights")


@check(
    "Beyond the length the weights are 0, whatever the scores there; rows sum to 1",
    category="masking",
    points=3,
    after="softmax",
)
def test_softmax_is_exact(candidate, draw):
    for shape in ((2,), (2, 5)):
        lens = lengths(draw, *shape, S=6)
        beyond = torch.arange(7) >= lens.reshape(2, -1, 1)  # (N, 1 or L, S)
        x = draw.normal(2, 5, 7)
        x = torch.where(beyond, 1000 * x.abs(), x)

        answer = candidate.masked_softmax(x, lens)

        assert_close(answer, "weights")
        if bool((answer.weights * beyond).any()):
            fail("a position beyond the valid length weighs more than 0")


@check(
    "A length of 0 does not disturb other rows",
    category="masking",
    points=1,
    after="softmax_lengths",
)
def test_softmax_length_zero(candidate, draw):
    x = draw.normal(3, 5, 7)
    lens = torch.tensor([4, 0, 2])

    answer = candidate.masked_softmax(x, lens)
    alone = candidate.masked_softmax(x[::2], lens[::2])

    assert_close(alone, "weights")
    if not torch.allclose(answer.weights[::2], alone.weights, rtol=1e-4, atol=1e-5):
        fail("a row of length 0 changes the weights of other rows")

    lens = lengths(draw, 3, 5)
    open_ = lens.clone()
    lens[1, 2] = 0
    answer, alone = candidate.masked_softmax(x, lens), candidate.masked_softmax(x, open_)
    assert_close(alone, "weights")
    for item, query in ((0, slice(None)), (1, [0, 1, 3, 4]), (2, slice(None))):
        one, other = answer.weights[item, query], alone.weights[item, query]
        if not torch.allclose(one, other, rtol=1e-4, atol=1e-5):
            fail("a query of length 0 changes the weights of others")


@check(
    "Large scores (±1e4) stay finite and right, with lengths too",
    category="numerics",
    points=2,
    after="softmax",
)
def test_softmax_large_scores(candidate, draw):
    for scale in (100.0, 3000.0):
        x = scale * draw.normal(2, 5, 7)

        assert_close(candidate.masked_softmax(x, None), "weights")
        assert_close(candidate.masked_softmax(x, lengths(draw, 2)), "weights")
        assert_close(candidate.masked_softmax(x - 5 * scale, lengths(draw, 2, 5)), "weights")


@check(
    "masked_softmax keeps the dtype, and lengths may be int32",
    category="numerics",
    points=1,
    after="softmax_lengths",
)
def test_softmax_dtypes(candidate, draw):
    softmax = candidate.masked_softmax
    for dtype in (torch.float64, torch.bfloat16):
        x = draw.normal(2, 5, 7, dtype=dtype)
        assert_close(softmax(x, None), "weights")
        assert_close(softmax(x, lengths(draw, 2)), "weights")
    assert_close(softmax(draw.normal(2, 5, 7, dtype=torch.float16), None), "weights")
    assert_close(softmax(draw.normal(2, 5, 7), lengths(draw, 2).int()), "weights")
    assert_close(softmax(draw.normal(2, 5, 7), lengths(draw, 2, 5).int()), "weights")


@check(
    "masked_softmax takes a strided X, and leaves the lengths alone",
    category="robustness",
    points=1,
    after="softmax_lengths",
)
def test_softmax_strided(candidate, draw):
    softmax = candidate.masked_softmax
    of_32_bits = lengths(draw, 2).int()
    for x in (draw.normal(2, 7, 5).transpose(1, 2), draw.normal(5, 2, 7).transpose(0, 1)):
        for lens in (lengths(draw, 2), lengths(draw, 2, 5), lengths(draw, 5, 2).T, of_32_bits):
            if not torch.equal(softmax.inputs_after(x, lens)[1], lens):
                fail("changes its input `valid_lens` in place")
            assert_close(softmax(x, lens), "weights")


# --- MultiHeadAttention


test_constructor = restated(
    self_attention.test_constructor,
    "Is made with key_size, query_size, value_size, num_hiddens, num_heads and dropout",
)


@check(
    "Has no parameters but the four maps; they have biases with bias=True alone",
    category="cost",
    points=2,
    after="constructor",
)
def test_parameter_count(candidate, draw):
    weights = (KEY + QUERY + VALUE + E) * E
    for options, wanted in (({}, weights), ({"bias": True}, weights + 4 * E)):
        layer = layer_of(candidate, **options)
        assert_no_extra_parameters(layer)
        if layer.parameter_count != wanted:
            how = "with bias=True" if options else "without bias=True"
            fail(f"has {layer.parameter_count} parameters {how}; {wanted} are wanted")


test_output_shape = restated(
    cross_attention.test_output_shape, "The class returns (B, L, num_hiddens) where L ≠ S"
)


@check(
    "The output is right on several random shapes, without lengths",
    category="values",
    points=4,
    after="output_shape",
)
def test_values(candidate, draw):
    for bias in (False, True, False):
        n = draw.sizes("B L S H D", (2, 3, 5, 7, 11))
        layer = layer_of(candidate, n["H"] * n["D"], n["H"], bias=bias)

        assert_close(layer(*qkv(draw, n["B"], n["L"], n["S"])), "output")


@check(
    "Heads and batch items are independent; B, L, S, H or D = 1",
    category="values",
    points=2,
    after="output_shape",
)
def test_sizes(candidate, draw):
    for heads in (1, 2, 30):
        assert_close(layer_of(candidate, 30, heads)(*qkv(draw)), "output")
    layer = layer_of(candidate)
    for sizes in ({"B": 1}, {"L": 1}, {"S": 1}, {"B": 1, "L": 1, "S": 1}, {"L": 131, "S": 127}):
        assert_close(layer(*qkv(draw, **sizes)), "output")
    queries, keys, values = qkv(draw, B=3)
    assert_close(layer(queries, keys, values), "output")
    assert_close(layer(queries[1:2], keys[1:2], values[1:2]), "output")


@check(
    "valid_lens (B,): each item has its own length, in all heads",
    category="masking",
    points=4,
    after="output_shape",
)
def test_lengths(candidate, draw):
    layer = layer_of(candidate)
    for batch in (2, 5):
        for _ in range(2):
            assert_close(layer(*qkv(draw, batch), lengths(draw, batch)), "output")
    assert_close(layer(*qkv(draw), torch.tensor([2, 5])), "output")
    assert_close(layer(*qkv(draw), torch.tensor([2, 5], dtype=torch.int32)), "output")
    inputs = qkv(draw, 3)
    answer, alone = layer(*inputs, torch.tensor([4, 0, 2])), layer(*inputs, torch.tensor([4, 7, 2]))
    assert_close(alone, "output")
    if not torch.allclose(answer.output[::2], alone.output[::2], rtol=1e-4, atol=1e-5):
        fail("an item of length 0 changes the output of other items")


@check(
    "valid_lens (B, L): each query has its own length, in all heads",
    category="masking",
    points=3,
    after="output_shape",
)
def test_lengths_of_queries(candidate, draw):
    layer = layer_of(candidate)
    for batch in (2, 5):
        assert_close(layer(*qkv(draw, batch), lengths(draw, batch, L)), "output")
        assert_close(layer(*qkv(draw, batch), lengths(draw, batch, L).int()), "output")
    causal = torch.arange(1, 8).repeat(B, 1)
    assert_close(layer(*qkv(draw, L=7, S=7), causal), "output")


@check(
    "Lengths where B = H, B = L or L = S, and for B = 1 or one query",
    category="masking",
    points=2,
    after="lengths",
)
def test_lengths_and_sizes(candidate, draw):
    layer = layer_of(candidate)
    for batch, queries, keys in ((3, 5, 7), (5, 5, 7), (3, 3, 7), (2, 7, 7), (1, 5, 7), (2, 1, 7)):
        inputs = qkv(draw, batch, queries, keys)

        assert_close(layer(*inputs, lengths(draw, batch, S=keys)), "output")
        assert_close(layer(*inputs, lengths(draw, batch, queries, S=keys)), "output")


@check(
    "What lies beyond a length has no influence, whatever it holds",
    category="masking",
    points=3,
    after="output_shape",
)
def test_beyond_is_not_felt(candidate, draw):
    layer = layer_of(candidate)
    queries, keys, values = qkv(draw)
    lens = torch.tensor([3, 5])
    beyond = torch.arange(S) >= lens[:, None]  # (B, S)
    values[beyond] *= 1000

    assert_close(layer(queries, keys, values, lens), "output")

    keys[beyond] *= 300  # unmasked they would take all the weight of some queries
    assert_close(layer(queries, keys, values, lens), "output")
    assert_close(layer(queries, keys, values, lens[:, None].repeat(1, L)), "output")


@check(
    "Large logits stay finite and right, with lengths too",
    category="numerics",
    points=1,
    after="output_shape",
)
def test_large_logits(candidate, draw):
    layer = layer_of(candidate)
    for scale in (30.0, 100.0):
        queries, keys, values = qkv(draw)

        assert_close(layer(scale * queries, scale * keys, values), "output")
        assert_close(layer(scale * queries, scale * keys, values, lengths(draw, B)), "output")


@check(
    "The dtype is kept: float64, bfloat16, and float16 without lengths",
    category="numerics",
    points=2,
    after="values",
)
def test_dtypes(candidate, draw):
    for dtype in (torch.float64, torch.bfloat16):
        layer = layer_of(candidate, dtype=dtype)
        assert_close(layer(*qkv(draw, dtype=dtype)), "output")
        assert_close(layer(*qkv(draw, dtype=dtype), lengths(draw, B)), "output")
    assert_close(
        layer_of(candidate, dtype=torch.float16)(*qkv(draw, dtype=torch.float16)), "output"
    )


@check(
    "Gradients reach queries, keys, values and the weights, and are right",
    category="gradients",
    points=3,
    after="output_shape",
)
def test_gradients(candidate, draw):
    cotangents = [draw.normal(B, L, E)]
    for bias, lens in ((False, lengths(draw, B)), (True, None), (False, lengths(draw, B, L))):
        assert_gradients_match(
            layer_of(candidate, bias=bias),
            *qkv(draw),
            lens,
            wrt=(0, 1, 2),
            cotangents=cotangents,
            parameters=True,
        )


@check("dropout does nothing in eval()", category="robustness", points=1, after="output_shape")
def test_dropout_in_eval(candidate, draw):
    layer = layer_of(candidate, dropout=0.5)
    inputs = qkv(draw)

    assert_close(layer(*inputs), "output")
    layer.train(True)
    layer(*inputs)
    layer.train(False)
    assert_close(layer(*inputs), "output")


@check(
    "In training each weight is dropped with probability p, and divided by 1 − p if it is kept",
    category="robustness",
    points=2,
    after=("values", "dropout_in_eval"),
)
def test_dropout_in_training(candidate, draw):
    p, draws = 0.4, 3000

    # Other scores would not show between equal keys; they tell them from no dropout at all.
    in_training(layer_of(candidate, 11, 1, dropout=p), *qkv(draw, 1))

    # Two equal keys: each output is (kept keys / 2) / (1 − p) times what eval() gives.
    layer = layer_of(candidate, 11, 1, dropout=p)
    found, full = in_training(layer, *(x.repeat(draws, 2, 1) for x in qkv(draw, 1, 1, 1)))
    parts = (found * full).sum(-1) / (full * full).sum(-1)  # (draws, L)
    kept = (parts * 2 * (1 - p)).round()
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

    # One key, three heads: all are dropped in p³ of the draws, none in (1 − p)³.
    layer = layer_of(candidate, 33, 3, dropout=p)
    found, full = in_training(layer, *(x.repeat(1000, 1, 1) for x in qkv(draw, 1, 1, 1)))
    assert_share(nearly(found, 0 * full, full), p**3)
    assert_share(nearly(found, full / (1 - p), full), (1 - p) ** 3)

    # Beside a key of which nothing is seen it is the same.
    queries, keys, values = qkv(draw, 1, 1, 2)
    for lens in (torch.ones(1000, dtype=torch.int64), torch.ones(1000, 1, dtype=torch.int64)):
        inputs = (x.repeat(1000, 1, 1) for x in (queries, keys, values))
        found, full = in_training(layer, *inputs, lens)
        assert_share(nearly(found, 0 * full, full), p**3)
        assert_share(nearly(found, full / (1 - p), full), (1 - p) ** 3)

    layer.train(False)
    assert_close(layer(*qkv(draw)), "output")
    layer = layer_of(candidate, 11, 1, dropout=p)
    assert_gradients_of_dropped_weights(layer, *qkv(draw, 1, 1, 2), p=p, maps=MAPS)


def in_training(layer, *inputs):
    """Return what a layer gives in training, and what it should give in eval(), (B, L, E)."""
    layer.train(True)
    answer = layer(*inputs)
    return answer.output.double(), answer.expected["output"].exact


@check(
    "Strided inputs, as transposing makes them, give the same",
    category="robustness",
    points=1,
    after="values",
)
def test_non_contiguous(candidate, draw):
    layer = layer_of(candidate)
    queries = draw.normal(L, B, QUERY).transpose(0, 1)
    keys = draw.normal(B, KEY, S).transpose(1, 2)
    values = draw.normal(B, S, 2 * VALUE)[..., ::2]

    assert_close(layer(queries, keys, values), "output")
    assert_close(layer(queries, keys, values, lengths(draw, L, B).T), "output")


@check("The inputs are left as they were", category="robustness", points=1, after="output_shape")
def test_inputs_unchanged(candidate, draw):
    layer = layer_of(candidate)
    for lens in (None, lengths(draw, B), lengths(draw, B, L), lengths(draw, B).int()):
        assert_inputs_unchanged(layer, *qkv(draw), lens)


@check(
    "The same call gives the same answer, whatever was called or made in between",
    category="robustness",
    points=1,
    after="values",
)
def test_repeatable(candidate, draw):
    layer = layer_of(candidate)
    inputs, lens = qkv(draw), lengths(draw, B)

    assert_close(layer(*inputs, lens), "output")
    assert_close(layer(*inputs), "output")
    assert_close(layer(*inputs, lens), "output")
    assert_close(layer(*qkv(draw, B=1, L=3, S=2)), "output")
    assert_close(layer(*inputs), "output")
    for heads in (H, 1):  # layers of the same and of other sizes, made later
        layer_of(candidate, num_heads=heads)
        assert_close(layer(*inputs, lens), "output")


@check(
    "Heads that do not divide num_hiddens raise, and inputs of other sizes too",
    category="robustness",
    points=2,
    after="output_shape",
)
def test_bad_sizes(candidate, draw):
    sizes = (KEY, QUERY, VALUE)
    assert_rejected(
        candidate.MultiHeadAttention, *sizes, 10, 3, 0.0, False, why="num_hiddens 10 with 3 heads"
    )
    layer = layer_of(candidate)
    queries, keys, values = qkv(draw)
    assert_rejected(layer, keys, queries, values, why="keys in place of the queries")
    wide = torch.cat([values, values[..., :1]], -1)
    assert_rejected(layer, queries, keys, wide, why="values wider than value_size")
    assert_rejected(layer, queries, keys, values[:, :-1], why="fewer values than keys")
    assert_rejected(layer, queries, keys[:, :-1], values, why="more values than keys")


@check(
    "Written from scratch: no fused or official attention",
    category="policy",
    points=3,
    after="values",
)
def test_written_from_scratch(candidate, draw):
    layer = layer_of(candidate)

    assert_written_from_scratch(candidate, layer, *qkv(draw))
    assert_written_from_scratch(candidate, layer, *qkv(draw), lengths(draw, B))


@check(
    "masked_softmax leaves its X as it was",
    category="robustness",
    points=0,
    after="softmax_lengths",
    advisory=True,
)
def test_softmax_input_unchanged(candidate, draw):
    for lens in (lengths(draw, 2), lengths(draw, 2, 5)):
        assert_inputs_unchanged(candidate.masked_softmax, draw.normal(2, 5, 7), lens)


@check(
    "No Python loop over heads", category="policy", points=0, after="output_shape", advisory=True
)
def test_no_loop_over_heads(candidate, draw):
    inputs = qkv(draw)

    few = layer_of(candidate, 24, 2).observe(*inputs)
    many = layer_of(candidate, 24, 8).observe(*inputs)

    assert_operations_do_not_grow(few, many, "heads")


test_float64_precision = restated(cross_attention.test_float64_precision, after="dtypes")


@check("float16 with lengths", category="numerics", points=0, after="lengths", advisory=True)
def test_float16_with_lengths(candidate, draw):
    layer = layer_of(candidate, dtype=torch.float16)

    assert_close(layer(*qkv(draw, dtype=torch.float16), lengths(draw, B)), "output")
