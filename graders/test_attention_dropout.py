"""Multi-head attention with dropout on its weights: dropout(softmax(q kᵀ / √D)) v, then a map.

What is drawn at random is graded exactly all the same. With few keys the output in training tells
by which number each weight was multiplied: it has to be 0 or 1 / (1 − p). How often, and whether
weights are dropped independently of one another, are shares of some thousand weights, and these
have to lie within 7 sigma.
"""

# B batch  L query length  S key length  H heads  D head size  E = H·D width  p dropout

from collections import defaultdict
from itertools import combinations

import torch
from graders.shared import cross_attention

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
    untraced,
)
from mha_judge.grading.checks.dropout import (
    SIGMAS,
    assert_gradients_of_dropped_weights,
    assert_gradients_of_long_dropped_weights,
    assert_share,
)

E, H = 33, 3  # D = 11
B, L, S = 2, 5, 7
MASK_DTYPES = (torch.bool, torch.int64, torch.int32, torch.uint8, torch.float32)
COPIES, QUERIES, KEYS = 400, 4, 3  # many draws in one call; H · KEYS weights for E equations
MANY = 1150
LONG = 300  # longer than what answers compute at once
FAR = (1, 768, 960, 1000, 1024)  # multiples of nearly every number after which draws may repeat
SHARED = 0.9  # the least correlation of draws that are one and the same
NEAR = 0.01  # a multiple of a weight is 0 or 1 / (1 − p); nothing that is graded lies between


def layer_of(candidate, embed_dim=E, num_heads=H, dropout=0.0, dtype=torch.float32):
    return candidate.MultiHeadAttention(
        embed_dim=embed_dim, num_heads=num_heads, dropout=dropout, dtype=dtype
    )


def qkv(draw, B=B, L=L, S=S, E=E, dtype=torch.float32):
    q = draw.normal(B, L, E, dtype=dtype)
    k = draw.normal(B, S, E, dtype=dtype)
    v = draw.normal(B, S, E, dtype=dtype)
    return q, k, v


def copies(draw, items=COPIES, queries=QUERIES, keys=KEYS, embed_dim=E):
    """Return one item many times over, none of its weights next to nothing.

    Many queries are one query many times over.
    """
    q, k, v = qkv(draw, 1, min(queries, QUERIES), keys, embed_dim)
    q = q if queries <= QUERIES else q[:, :1].repeat(1, queries, 1)
    return tuple(x.repeat(items, 1, 1) for x in (0.5 * q, k, v))


def in_training(candidate, layer, *inputs, **how):
    """Return the answer of a call in training; what is drawn is not put to known mistakes."""
    layer.train(True)
    with untraced(candidate):
        return layer(*inputs, **how)


def parts_of(layer, q, k, v, mask=None):
    """Return weights (H, L, S), what each adds to the output (L, H·S, E), and the bias (E,)."""
    reference, _ = layer.references()
    with torch.no_grad():
        _, weights = reference(*(x[:1].double() for x in (q, k, v)), mask)
        values = reference.v_proj(v[0].double()).unflatten(-1, (weights.shape[1], -1))  # (S, H, D)
        maps = reference.out_proj.weight.unflatten(-1, values.shape[1:])  # (E, H, D)
        parts = torch.einsum("hls,shd,ehd->lhse", weights[0], values, maps)
    return weights[0], parts.flatten(1, 2), reference.out_proj.bias.detach()


def multiples_of(candidate, layer, q, k, v, mask=None, open_=slice(None), **how):
    """Return by which number each weight was multiplied in training: (B, L, H, S).

    Where the mask blocks keys, S are the open ones; `open_` says which they are.
    """
    answer = in_training(candidate, layer, q, k, v, mask, **how)
    q = q if q.shape[1] <= QUERIES else q[:, :1]
    weights, parts, bias = parts_of(layer, q, k[:, open_], v[:, open_])
    found = answer.output.double() - bias  # (B, L, E)
    multiples = torch.einsum("lep,ble->blp", torch.linalg.pinv(parts), found)
    missing = found - torch.einsum("lpe,blp->ble", parts, multiples)
    if float(missing.nan_to_num().abs().max()) > NEAR * float(parts.abs().max()):
        if mask is not None:
            fail("in training, under a mask, the output is no sum of multiples of the open values")
        _tell_what_is_dropped_instead(layer, answer, weights, v)
    return multiples.unflatten(-1, (weights.shape[0], -1))


def _tell_what_is_dropped_instead(layer, answer, weights, v):
    """Fail: the output is no sum of weights (H, L, S) times values."""
    output, expected = answer.output.double(), answer.expected["output"].exact
    zero = output == 0
    if zero.any():
        ratios = (output / expected)[~zero & (expected.abs() > NEAR)]
        if float(ratios.std()) < NEAR:
            fail("in training features of the output are dropped, instead of the weights")
        fail("in training features of the output are dropped: nothing but the weights may be")
    reference, _ = layer.references()
    with torch.no_grad():
        values = reference.v_proj(v[0].double()).unflatten(-1, (len(weights), -1)).transpose(0, 1)
        solved = torch.linalg.inv(reference.out_proj.weight)
        gathered = (output - reference.out_proj.bias) @ solved.T
    gathered = gathered.unflatten(-1, (len(weights), -1)).transpose(1, 2)  # (B, H, L, D)
    if _is_thinned(gathered, weights @ values):
        fail("in training features of the heads are dropped, instead of the weights")
    if _is_thinned(torch.linalg.pinv(weights) @ gathered, values):
        fail("in training features of the values are dropped, instead of the weights")
    fail("in training the output is no sum of multiples of the values")


def _is_thinned(found, whole):
    """Return whether numbers of `whole` are dropped, and the others multiplied by one factor."""
    large = whole.abs() > whole.abs().max() / 4  # what is solved for is not exact
    multiples = (found / whole)[..., large]
    zero = multiples.abs() < 0.1
    return bool(zero.any()) and not zero.all() and float(multiples[~zero].std()) < 0.1


def scores_of(layer, q, k):
    """Return the scores (H, L, S) of the first item."""
    reference, _ = layer.references()
    maps = ((reference.q_proj, q), (reference.k_proj, k))
    with torch.no_grad():
        q, k = (to(x[0].double()).unflatten(-1, (layer.sizes["num_heads"], -1)) for to, x in maps)
    return torch.einsum("lhd,shd->hls", q, k) / q.shape[-1] ** 0.5


def assert_dropped_or_scaled(multiples, scores, p):
    """Assert that each weight is either 0 or divided by 1 − p; scores (H, L, S)."""
    weights = scores.softmax(-1)
    rows = multiples.isfinite().all(-1).all(-1)  # (B, L)
    if not rows.any():
        fail("in training the output is NaN")
    sums = (multiples * weights.transpose(0, 1)).sum(-1)[rows]  # (·, H)
    found = multiples[rows]  # (·, H, S)
    zero, wanted = found.abs() < NEAR, 1 / (1 - p)
    kept = found[~zero]
    if kept.numel() and bool(((kept - wanted).abs() < NEAR * wanted).all()) and rows.all():
        return
    if bool(((found - 1).abs() < NEAR).all()):
        fail("in training nothing is dropped: the output is that of eval()")
    if bool((((sums - 1).abs() < NEAR) | (sums.abs() < NEAR)).all()):
        _tell_that_rows_sum_to_one(zero, multiples.transpose(1, 2) * weights, scores, p)
    share = float(zero.double().mean())
    if kept.numel() and float(kept.std()) < NEAR:
        _tell_the_factor(float(kept.mean()), share, p)
    fail(
        "in training a weight is neither dropped nor divided by 1 − p",
        f"multiplied by {kept.min():.3g} to {kept.max():.3g}; 0 or {wanted:.3g} is wanted",
    )


def _tell_that_rows_sum_to_one(zero, found, scores, p):
    """Fail: all rows of weights (B, H, L, S) sum to one, or are not there at all."""
    if zero.any():
        fail("in training the weights that are kept are shared out anew: each row sums to one")
    for factor in (1, 1 / (1 - p)):
        kept = torch.cartesian_prod(*[torch.tensor((0.0, factor))] * scores.shape[-1])  # (2^S, S)
        every = (kept[:, None, None] * scores).softmax(-1)  # (2^S, H, L, S)
        nearest = (found[:, None] - every).abs().amax(-1).amin(1)  # (B, H, L)
        if float(nearest.max()) < NEAR:
            fail("in training scores are dropped before the softmax, instead of the weights")
    fail("in training no weight is dropped and each row sums to one: the scores are other ones")


def _tell_the_factor(factor, share, p):
    """Fail: all weights that are kept are multiplied by one number, but not by 1 / (1 − p)."""
    detail = f"multiplied by {factor:.3g}; {1 / (1 - p):.3g} is wanted"
    if abs(factor - 1) < NEAR:
        fail("in training a weight that is kept stays as it is: it is not divided by 1 − p", detail)
    if abs(factor - (1 - p)) < NEAR:
        fail("in training a weight that is kept is multiplied by 1 − p, not divided", detail)
    if abs(factor - 1 / p) < NEAR / p:
        fail("in training p is the probability with which a weight is kept, not dropped", detail)
    if abs(factor * (1 - p) ** 2 - 1) < NEAR and abs((1 - share) / (1 - p) ** 2 - 1) < 0.1:
        fail("in training the weights are dropped twice", detail)
    if abs(factor * (1 - share) - 1) < 0.1:
        fail(
            "in training weights are dropped at another rate than the layer was made with",
            f"about {share:.2f} of them; {p} is wanted",
        )
    fail("in training the weights that are kept are multiplied by another number", detail)


def pairs_of(dropped, where="in training"):
    """Yield what may be related, and the hits of two draws; dropped (B, L, H, S)."""
    for lag in range(1, len(dropped) // 2 + 1):
        yield f"{where} the items of the batch", dropped[:-lag], dropped[lag:]
    for axis, name in enumerate(("queries", "heads", "keys"), 1):
        for pair in combinations(dropped.unbind(axis), 2):
            yield f"{where} the {name}", *pair


def assert_unrelated(*pairs):
    """Assert that what one draw hits says nothing of what another hits.

    Where one axis shares its draws, there are fewer independent ones than numbers along the others
    too, and chance alone can look like a relation there. So the strongest is told.

    Args:
        pairs: What draws, as it begins the message, and the hits of two draws.
    """
    strengths = defaultdict(list)
    related = []
    for name, one, other in pairs:
        one, other = one.double(), other.double()
        both, apart = float((one * other).mean()), float(one.mean() * other.mean())
        spread = float(one.std() * other.std())
        strength = abs(both - apart) / max(spread, NEAR)
        strengths[name].append(strength)
        if abs(both - apart) > SIGMAS * spread / one.numel() ** 0.5:
            related.append((round(strength, 3), name, both, apart))
    if related:
        _, name, both, apart = max(related, key=lambda found: found[0])
        how = "share their draws" if min(strengths[name]) > SHARED else "do not draw on their own"
        fail(
            f"{name} {how}",
            f"both are dropped in {both:.4f} of the cases; {apart:.4f} is expected",
        )


@check(
    "Is made with (embed_dim, num_heads, dropout), and has maps for q, k, v and the output",
    category="shape",
    points=2,
)
def test_constructor(candidate, draw):
    layer_of(candidate, dropout=0.3)


@check(
    "Has no parameters but the four maps: 4E², and 4E of biases at most",
    category="cost",
    points=1,
    after="constructor",
)
def test_parameter_count(candidate, draw):
    assert_no_extra_parameters(layer_of(candidate, dropout=0.3))


test_output_shape = cross_attention.test_output_shape


@check(
    "With dropout = 0 it is multi-head attention, on several random shapes",
    category="values",
    points=4,
    after="output_shape",
)
def test_values(candidate, draw):
    for _ in range(3):
        n = draw.sizes("B L S H D", (2, 3, 5, 7, 11))
        width = n["H"] * n["D"]
        layer = layer_of(candidate, width, n["H"])

        assert_close(layer(*qkv(draw, n["B"], n["L"], n["S"], width)), "output")


@check(
    "Keys and values come from their own inputs", category="values", points=1, after="constructor"
)
def test_k_and_v_differ(candidate, draw):
    assert_close(layer_of(candidate)(*qkv(draw, S=L)), "output")


test_number_of_heads = restated(cross_attention.test_number_of_heads, points=1)


@check(
    "Sizes of 1 are sizes like others: B, L or S = 1",
    category="shape",
    points=1,
    after="output_shape",
)
def test_size_one(candidate, draw):
    layer = layer_of(candidate)
    for sizes in ({"B": 1}, {"L": 1}, {"S": 1}, {"B": 1, "L": 1, "S": 1}):
        assert_close(layer(*qkv(draw, **sizes)), "output")


@check(
    "In eval() nothing is dropped and nothing scaled, whatever dropout is",
    category="values",
    points=4,
    after="output_shape",
)
def test_eval(candidate, draw):
    for p in (0.1, 0.5, 0.9):
        layer = layer_of(candidate, dropout=p)
        q, k, v = qkv(draw)
        with untraced(candidate):
            outputs = [layer(q, k, v).output for _ in range(2)]
        if not torch.allclose(*outputs, rtol=NEAR, atol=NEAR, equal_nan=True):
            fail("two calls in eval() differ: dropout is still active")

        assert_close(layer(q, k, v), "output")
        assert_close(layer(q, k, v, draw.mask(L, S)), "output")


@check(
    "With dropout = 0 training gives what eval() gives",
    category="values",
    points=1,
    after="values",
)
def test_nothing_to_drop(candidate, draw):
    layer = layer_of(candidate, dropout=0.0)
    inputs = qkv(draw)
    outputs = [in_training(candidate, layer, *inputs).output for _ in range(2)]
    if not torch.allclose(*outputs, rtol=NEAR, atol=NEAR, equal_nan=True):
        fail("two calls in training differ, though dropout is 0")

    assert_close(layer(*inputs), "output")
    assert_close(layer(*inputs, draw.mask(B, 1, L, S)), "output")


@check(
    "In training each weight is dropped, or divided by 1 − p if it is kept",
    category="values",
    points=5,
    after="values",
)
def test_dropped_or_scaled(candidate, draw):
    for p in (0.4, 0.15):
        layer = layer_of(candidate, dropout=p)
        q, k, v = copies(draw)
        multiples = multiples_of(candidate, layer, q, k, v)

        assert_dropped_or_scaled(multiples, scores_of(layer, q, k), p)


@check(
    "Weights are dropped one by one: every item, query, head and key draws its own",
    category="values",
    points=3,
    after="dropped_or_scaled",
)
def test_one_by_one(candidate, draw):
    layer = layer_of(candidate, dropout=0.4)
    dropped = multiples_of(candidate, layer, *copies(draw)).abs() < NEAR  # (B, L, H, S)
    assert_unrelated(*pairs_of(dropped))
    expanded = multiples_of(candidate, layer, *copies(draw), layout="expanded").abs() < NEAR
    assert_unrelated(*pairs_of(expanded, "in training, where one item is expanded,"))
    for name, hits, distances in of_many(candidate, draw, layer):
        apart = [(hits[:-distance], hits[distance:]) for distance in distances]
        assert_unrelated(*((f"in training the {name}", *pair) for pair in apart))


def of_many(candidate, draw, layer):
    """Yield what there is much of, where it is dropped, and distances at which draws may repeat."""

    def hits(axis, layer, *asked, **options):
        dropped = multiples_of(candidate, layer, *asked, **options).abs() < NEAR  # (B, L, H, S)
        return dropped.movedim(axis, 0)

    yield "items of the batch", hits(0, layer, *copies(draw, MANY, 1, 2)), FAR
    yield "queries", hits(1, layer, *copies(draw, 1, MANY)), FAR
    heads = layer_of(candidate, 160, 40, dropout=0.4)
    yield "heads", hits(2, heads, *copies(draw, 100, 2, 2, 160)), range(1, 40)
    places = draw.integer(0, 90) + torch.tensor((0, *FAR, FAR[-1] + 1))
    mask = torch.zeros(1, 1, 1, MANY, dtype=torch.bool)
    mask[..., places] = True
    few_open = (*copies(draw, 1, 200, MANY), mask)
    yield "keys", hits(3, layer, *few_open, open_=places), range(1, len(places))
    # two items of 2¹⁸ weights each, of which few are open
    large, places = layer_of(candidate, 22, 2, dropout=0.4), places[:3]
    mask = torch.isin(torch.arange(1024), places).view(1, 1, 1, -1)
    few_open = (*copies(draw, 2, 128, 1024, 22), mask)
    yield "items of a large batch", hits(0, large, *few_open, open_=places), (1,)


@check(
    "A share p of the weights is dropped",
    category="values",
    points=3,
    after="one_by_one",
)
def test_share(candidate, draw):
    layers = [(p, layer_of(candidate, dropout=p)) for p in (0.006, 0.1, 0.4, 0.75)]
    for p, layer in layers:
        dropped = multiples_of(candidate, layer, *copies(draw)).abs() < NEAR

        assert_share(dropped, p, "in training another share than p of the weights is dropped")
    p = 0.0004  # so few are dropped that it takes more draws
    dropped = multiples_of(candidate, layer_of(candidate, dropout=p), *copies(draw, 1, 9600, 8))
    assert_share(
        dropped.abs() < NEAR, p, "in training another share than p is dropped where p is small"
    )


@check(
    "Every call in training draws anew, and so does every layer",
    category="values",
    points=2,
    after="one_by_one",
)
def test_every_call(candidate, draw):
    inputs = copies(draw)
    layer = layer_of(candidate, dropout=0.4)
    first = multiples_of(candidate, layer, *inputs).abs() < NEAR
    second = multiples_of(candidate, layer, *inputs).abs() < NEAR
    other_layer = layer_of(candidate, dropout=0.4)
    third = multiples_of(candidate, other_layer, *inputs).abs() < NEAR
    if all(bool((hits == hits[:1]).all()) for hits in (first, second, third)):
        # items that share their draws, which another check tells, are one draw, not many
        first, second, third = first[:1], second[:1], third[:1]

    assert_unrelated(("in training two calls", first, second))
    assert_unrelated(("in training two layers", first, third))


@check(
    "The mean over many draws is the output of eval()",
    category="values",
    points=3,
    after="values",
)
def test_mean(candidate, draw):
    p = 0.4
    layer = layer_of(candidate, dropout=p)
    q, k, v = copies(draw)
    answer = in_training(candidate, layer, q, k, v)
    _, parts, _ = parts_of(layer, q, k, v)

    wanted = answer.expected["output"].exact[0]  # (L, E)
    output = answer.output.double()
    mean = output.mean(0)
    # a multiple has variance p / (1 − p); what else is dropped may have a larger one
    variance = torch.maximum(p / (1 - p) * (parts**2).sum(1), output.var(0))
    sigma = (variance / COPIES).sqrt()
    if not bool(((mean - wanted).abs() < SIGMAS * sigma).all()):
        worst = float(((mean - wanted).abs() / sigma).max())
        fail(
            f"the mean over {COPIES} draws in training is not the output of eval()",
            f"off by {worst:.0f} sigma",
        )


@check(
    "Training and eval() may take turns",
    category="robustness",
    points=2,
    after=("eval", "dropped_or_scaled"),
)
def test_modes_take_turns(candidate, draw):
    layer = layer_of(candidate, dropout=0.4)
    q, k, v = qkv(draw)
    manners = {
        "": {},
        " under torch.no_grad()": {"mode": "no_grad"},
        " under torch.inference_mode()": {"mode": "inference_mode"},
        " where its parameters are frozen": {"frozen": "yes"},
        ", once it has been in eval()": {},
    }
    for words, how in manners.items():
        answer = in_training(candidate, layer, q, k, v, **how)
        if torch.allclose(answer.output.double(), answer.expected["output"].exact, atol=NEAR):
            fail(f"drops nothing in training{words}")
        layer.train(False)
        with untraced(candidate):
            outputs = [layer(q, k, v).output for _ in range(2)]
        if not torch.allclose(*outputs, rtol=NEAR, atol=NEAR, equal_nan=True):
            fail("still drops in eval(), once it has been in training")
        assert_close(layer(q, k, v), "output")


@check(
    "A mask (L, S): 0 blocks, 1 may attend",
    category="masking",
    points=3,
    after="constructor",
)
def test_mask(candidate, draw):
    layer = layer_of(candidate)
    q, k, v = qkv(draw)
    for _ in range(2):
        assert_close(layer(q, k, v, draw.mask(L, S)), "output")
    assert_close(layer(*qkv(draw, B=L), draw.mask(L, S)), "output")  # rows are queries, not items
    q[:, 1], k[:, 3] = 0, 0
    assert_close(layer.without_biases()(q, k, v, draw.mask(L, S)), "output")


@check(
    "Masks (B, 1, 1, S), (B, 1, L, S) and (B, H, L, S); bool, integer or float",
    category="masking",
    points=2,
    after="mask",
)
def test_mask_kinds(candidate, draw):
    layer = layer_of(candidate)
    q, k, v = qkv(draw)
    for shape in ((L, S), (B, 1, 1, S), (B, 1, L, S), (B, H, L, S)):
        for dtype in MASK_DTYPES:
            assert_close(layer(q, k, v, draw.mask(*shape).to(dtype)), "output")


test_blocked_key_is_not_felt = restated(cross_attention.test_blocked_key_is_not_felt, points=2)


@check(
    "A key that is blocked stays blocked in training",
    category="masking",
    points=2,
    after=("mask", "dropped_or_scaled"),
)
def test_mask_in_training(candidate, draw):
    layer = layer_of(candidate, dropout=0.4)
    q, k, v = copies(draw)
    mask = torch.tensor([[1, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 0]])  # (QUERIES, KEYS)

    answer = in_training(candidate, layer, q, k, v, mask)
    _, parts, bias = parts_of(layer, q, k, v, mask)
    found = answer.output.double() - bias
    seen = torch.einsum("lep,ble->blp", torch.linalg.pinv(parts), found)
    missing = found - torch.einsum("lpe,blp->ble", parts, seen)
    if float(missing.abs().nan_to_num(torch.inf).max()) > NEAR * float(parts.abs().max()):
        fail("in training a key that the mask blocks has an influence")
    kept = seen.unflatten(-1, (H, KEYS)).transpose(1, 2)[:, :, mask == 1]  # (B, H, open keys)
    wanted = torch.where(kept.abs() < NEAR, 0.0, 1 / (1 - 0.4))
    if not torch.allclose(kept, wanted.double(), atol=NEAR):
        fail("under a mask a weight is neither dropped nor divided by 1 − p in training")

    per_item = ((1, 1, 1, KEYS), (1, 1, QUERIES, KEYS), (1, H, QUERIES, KEYS))
    for shape in ((QUERIES, KEYS), *((COPIES, *shape[1:]) for shape in per_item)):
        open_ = torch.ones(shape, dtype=torch.bool)  # blocks nothing
        multiples = multiples_of(candidate, layer, q, k, v, open_)
        assert_dropped_or_scaled(multiples, scores_of(layer, q, k), 0.4)
        assert_unrelated(*pairs_of(multiples.abs() < NEAR, "in training, under a mask,"))


test_large_logits = restated(cross_attention.test_large_logits, points=1)


@check("float64 in, float64 out", category="numerics", points=1, after="values")
def test_float64(candidate, draw):
    layer = layer_of(candidate, dropout=0.3, dtype=torch.float64)

    assert_close(layer(*qkv(draw, dtype=torch.float64)), "output")


@check(
    "bfloat16 in, bfloat16 out, with and without a mask",
    category="numerics",
    points=1,
    after="values",
)
def test_bfloat16(candidate, draw):
    layer = layer_of(candidate, dropout=0.3, dtype=torch.bfloat16)
    q, k, v = qkv(draw, dtype=torch.bfloat16)

    assert_close(layer(q, k, v), "output")
    assert_close(layer(q, k, v, draw.mask(L, S)), "output")


@check("float16 in, float16 out, without a mask", category="numerics", points=1, after="values")
def test_float16(candidate, draw):
    layer = layer_of(candidate, dropout=0.3, dtype=torch.float16)

    assert_close(layer(*qkv(draw, dtype=torch.float16)), "output")


@check("Training keeps the dtype as well", category="numerics", points=1, after="dropped_or_scaled")
def test_dtype_in_training(candidate, draw):
    for dtype in (torch.float64, torch.bfloat16):
        layer = layer_of(candidate, dropout=0.3, dtype=dtype)
        answer = in_training(candidate, layer, *qkv(draw, dtype=dtype))

        assert answer.output.dtype == dtype


@check(
    "Gradients reach q, k, v and the weights, and are right",
    category="gradients",
    points=2,
    after="output_shape",
)
def test_gradients(candidate, draw):
    assert_gradients_match(
        layer_of(candidate, dropout=0.3),
        *qkv(draw),
        draw.mask(L, S),
        wrt=(0, 1, 2),
        cotangents=[draw.normal(B, L, E)],
        parameters=True,
    )


@check(
    "Gradients flow in training too; with dropout = 0 they are those of eval()",
    category="gradients",
    points=2,
    after=("values", "nothing_to_drop"),
)
def test_gradients_in_training(candidate, draw):
    layer = layer_of(candidate, dropout=0.0)
    layer.train(True)

    assert_gradients_match(
        layer,
        *qkv(draw),
        wrt=(0, 1, 2),
        cotangents=[draw.normal(B, L, E)],
        parameters=True,
    )
    layer = layer_of(candidate, 11, 1, dropout=0.4)
    maps = ("q_proj", "k_proj", "v_proj", "out_proj")
    assert_gradients_of_dropped_weights(layer, *qkv(draw, 1, 1, 2, 11), p=0.4, maps=maps)
    layer = layer_of(candidate, 11, 1, dropout=0.4)
    assert_gradients_of_long_dropped_weights(layer, *qkv(draw, 1, LONG, LONG, 11))


test_non_contiguous = cross_attention.test_non_contiguous


@check(
    "The inputs are left as they were, in training too",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_inputs_unchanged(candidate, draw):
    layer = layer_of(candidate, dropout=0.4)
    for training in (True, False):
        layer.train(training)
        assert_inputs_unchanged(layer, *qkv(draw))
        for mask in (draw.mask(L, S), draw.mask(B, 1, L, S).float(), draw.mask(B, 1, 1, S)):
            assert_inputs_unchanged(layer, *qkv(draw), mask)
        for dtype in MASK_DTYPES:
            assert_inputs_unchanged(layer, *qkv(draw), draw.mask(L, S).to(dtype))


@check(
    "The same call gives the same answer in eval(), whatever was called or made in between",
    category="robustness",
    points=1,
    after="values",
)
def test_repeatable(candidate, draw):
    layer = layer_of(candidate)
    q, k, v = qkv(draw)
    mask = draw.mask(L, S)

    assert_close(layer(q, k, v, mask), "output")
    assert_close(layer(*qkv(draw, B=1, L=3, S=2)), "output")
    assert_close(layer(q, k, v), "output")
    assert_close(layer(q, k, v, mask), "output")
    for heads in (H, 1):  # layers of the same and of other sizes, made later
        layer_of(candidate, num_heads=heads)
        assert_close(layer(q, k, v, mask), "output")


@check(
    "A width that the heads do not divide raises",
    category="robustness",
    points=1,
    after="constructor",
)
def test_bad_heads(candidate, draw):
    assert_rejected(candidate.MultiHeadAttention, 10, 3, 0.1, why="embed_dim 10 with 3 heads")


@check(
    "Inputs of another width raise, keys and values of different length too",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_bad_inputs(candidate, draw):
    layer = layer_of(candidate)
    q, k, v = qkv(draw)

    assert_rejected(
        layer, q[..., :-1], k[..., :-1], v[..., :-1], why="inputs of another width than embed_dim"
    )
    wide = qkv(draw, E=E + 1)
    assert_rejected(layer, *wide, why="inputs wider than embed_dim")
    assert_rejected(layer, q, k, wide[2], why="values wider than embed_dim")
    assert_rejected(layer, q, k, v[:, :-1], why="fewer values than keys")
    assert_rejected(layer, q, k[:, :-1], v, why="more values than keys")


@check(
    "Written from scratch: no fused or official attention",
    category="policy",
    points=3,
    after=("values", "nothing_to_drop"),
)
def test_written_from_scratch(candidate, draw):
    layer = layer_of(candidate)
    for training in (False, True):
        layer.train(training)
        assert_written_from_scratch(candidate, layer, *qkv(draw))
        assert_written_from_scratch(candidate, layer, *qkv(draw), draw.mask(L, S))


test_no_loop_over_heads = cross_attention.test_no_loop_over_heads
test_float64_precision = cross_attention.test_float64_precision
test_float16_with_mask = cross_attention.test_float16_with_mask
