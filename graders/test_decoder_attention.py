"""Grouped queries, rotary positions, a cache and a window: chunks must equal one full pass."""

# B batch  L new positions  T cached positions
# H query heads  G key/value heads  D head size  E = H·D width

import torch
from graders.shared import caching

from mha_judge.grading import (
    assert_close,
    assert_rejected,
    check,
    restated,
)
from mha_judge.grading.checks.corners.scores import LARGEST_SCORE

E, H, G = 60, 6, 2  # D = 10: H/G = 3, so that neither H = 2G nor G = H/G hides an order
D = E // H
B = 2
OPTIONS = [{}, {"window": 3}]


def layer_of(candidate, embed_dim=E, num_heads=H, num_kv_heads=G, window=None, dtype=torch.float32):
    limit = {} if window is None else {"window": window}
    return candidate.DecoderAttention(
        embed_dim=embed_dim, num_heads=num_heads, num_kv_heads=num_kv_heads, dtype=dtype, **limit
    )


def lowest(draw, layer):
    """Return a position (D,) whose score with itself is as low as graded scores get.

    Of some, it is the one whose query and key point away from each other most: whatever angles they
    are turned by, no score is much larger in size. So large, biases hardly count.

    Args:
        draw: Draws positions.
        layer: Has a single head.
    """
    reference, _ = layer.references()
    x = draw.normal(99, D, dtype=torch.float64)
    q, k = x @ reference.q_proj.weight.detach().T, x @ reference.k_proj.weight.detach().T
    scores = (q * k).sum(-1) / D**0.5
    chosen = (scores / (q.norm(dim=-1) * k.norm(dim=-1))).argmin()
    return (x[chosen] * (0.97 * LARGEST_SCORE / -scores[chosen]) ** 0.5).float()


def cache_of(draw, length, batch=B, dtype=torch.float32):
    return tuple(draw.normal(batch, G, length, D, dtype=dtype) for _ in "kv")


test_constructor = restated(
    caching.test_constructor,
    "Is made with (embed_dim, num_heads, num_kv_heads); k and v maps have num_kv_heads · D outputs",
    points=3,
)


@check(
    "Without a cache returns (output, (k, v)): (B, L, E), and (B, G, L, D) each, not repeated",
    category="shape",
    points=3,
    after="constructor",
)
def test_prefill_shape(candidate, draw):
    answer = layer_of(candidate)(draw.normal(B, 5, E))

    assert answer.output.shape == (B, 5, E)
    assert [t.shape for t in answer.tensors("cache")] == [(B, G, 5, D)] * 2


@check(
    "A prefill is causal attention of turned queries to turned keys",
    category="values",
    points=5,
    after="prefill_shape",
)
def test_prefill(candidate, draw):
    layer = layer_of(candidate)
    for length in (1, 2, 7, 13):
        assert_close(layer(draw.normal(B, length, E)), "output")


@check(
    "Query heads in order share key/value heads: 0 0 0 1 1 1, not 0 1 0 1 0 1",
    category="values",
    points=3,
    after="prefill_shape",
)
def test_groups(candidate, draw):
    for heads, groups in ((6, 2), (6, 3), (6, 6), (6, 1), (12, 3), (8, 4)):
        layer = layer_of(candidate, 4 * heads, heads, groups)
        for answer in caching.run_chunks(layer, draw.normal(B, 7, 4 * heads), [4, 3]):
            assert_close(answer, "output", "cache")


test_cache_values = restated(
    caching.test_cache_values,
    "The cache holds turned keys, and values as they are, of all positions, oldest first",
)


@check(
    "Features i and i + D/2 turn by position · 10000^(−2i/D), for small and for large D",
    category="values",
    points=2,
    after="prefill_shape",
)
def test_frequencies(candidate, draw):
    for width in (2, 4, 6, 64):
        layer = layer_of(candidate, 2 * width, 2, 1)
        assert_close(layer(draw.normal(1, 9, 2 * width)), "output", "cache")


test_one_step = caching.test_one_step
test_many_steps = caching.test_many_steps
test_steps_from_nothing = caching.test_steps_from_nothing
test_chunk_on_warm_cache = caching.test_chunk_on_warm_cache
test_future_is_not_felt = caching.test_future_is_not_felt


@check(
    "With a window W, a position sees W positions, itself included",
    category="masking",
    points=4,
    after="prefill",
)
def test_window(candidate, draw):
    for window in (1, 2, 3, 6, 7, 8, 40):
        layer = layer_of(candidate, window=window)
        for length in (7, 13):
            assert_close(layer(draw.normal(B, length, E)), "output", "cache")


@check(
    "The window reaches back into the cache, which still holds every position",
    category="masking",
    points=4,
    after=("window", "chunk_on_warm_cache"),
)
def test_window_on_warm_cache(candidate, draw):
    for window in (2, 1, 4, 9):
        layer = layer_of(candidate, window=window)
        for lengths in ([5, 4, 1, 1, 1], [2, 7, 1], [11, 6], [1] * 13, [5, 70]):
            for answer in caching.run_chunks(layer, draw.normal(B, sum(lengths), E), lengths):
                assert_close(answer, "output", "cache")


test_two_continuations = caching.test_two_continuations
test_old_caches_stay = caching.test_old_caches_stay
test_no_hidden_state = caching.test_no_hidden_state
test_starts_anew = caching.test_starts_anew
test_inputs_unchanged = caching.test_inputs_unchanged


@check(
    "A cache from elsewhere serves, short or long: only its values and its length count",
    category="values",
    points=2,
    after="window_on_warm_cache",
)
def test_foreign_cache(candidate, draw):
    for window in (None, 700):
        for T in (7, 2100, 4200):
            answer = layer_of(candidate, window=window)(draw.normal(B, 2, E), cache_of(draw, T))

            assert_close(answer, "output", "cache")


@check(
    "Sizes of 1 are sizes like others: B = 1, H = 1, and D = 2",
    category="shape",
    points=1,
    after="one_step",
)
def test_size_one(candidate, draw):
    for batch, heads, width in ((1, 6, 60), (2, 1, 10), (2, 4, 8), (1, 1, 2)):
        layer = layer_of(candidate, width, heads, 1)
        for answer in caching.run_chunks(layer, draw.normal(batch, 6, width), [3, 1, 2]):
            assert_close(answer, "output", "cache")


@check("Large logits stay finite and right", category="numerics", points=2, after="one_step")
def test_large_logits(candidate, draw):
    layer = layer_of(candidate)
    for scale in (30.0, 100.0):
        for answer in caching.run_chunks(layer, scale * draw.normal(B, 8, E), [4, 1, 3]):
            assert_close(answer, "output")
    narrow = layer_of(candidate, D, 1, 1)
    low = lowest(draw, narrow)
    x = torch.stack([low, -low, low, -low])[None]  # the first sees but itself
    for lengths in ([4], [2, 2]):
        for answer in caching.run_chunks(narrow, x, lengths):
            assert_close(answer, "output")
    # cached keys that meet the query at position 2 as its own key does: all that it sees is low
    keys, values = narrow(torch.stack([low] * 3)[None]).tensors("cache")
    cache = (keys[:, :, 2:].repeat(1, 1, 2, 1), values[:, :, :2].clone())
    assert_close(narrow(torch.stack([low, -low])[None], cache), "output")


@check(
    "What lies before the window weighs nothing, however low all scores within it are",
    category="numerics",
    points=1,
    after=("window_on_warm_cache", "large_logits"),
)
def test_low_scores_in_window(candidate, draw):
    layer = layer_of(candidate, D, 1, 1, window=1)
    low = lowest(draw, layer)
    x = torch.stack([-low, low, -low, low])[None]
    for lengths in ([4], [2, 2], [1, 1, 1, 1]):
        for answer in caching.run_chunks(layer, x, lengths):
            assert_close(answer, "output")


test_float64 = caching.test_float64
test_bfloat16 = caching.test_bfloat16


@check(
    "bfloat16 does not blur the positions: angles are computed in float32",
    category="numerics",
    points=2,
    after=("bfloat16", "foreign_cache"),
)
def test_bfloat16_far_on(candidate, draw):
    layer = layer_of(candidate, dtype=torch.bfloat16)
    for T, length in ((4900, 7), (301, 7), (1001, 1)):
        x = draw.normal(B, length, E, dtype=torch.bfloat16)
        cache = cache_of(draw, T, dtype=torch.bfloat16)
        few = tuple(0.01 * one for one in cache)  # small, as the largest number sets the tolerance
        assert_close(layer(0.1 * x, few), "cache", "output")
        assert_close(layer(x, cache), "cache", "output")


test_gradients = restated(
    caching.test_gradients,
    "Without a cache, gradients reach x and every parameter, and are right",
    after="window",
)


test_non_contiguous = caching.test_non_contiguous


@check(
    "Sizes that do not divide raise, an odd head size and an input of another width too",
    category="robustness",
    points=2,
    after="prefill_shape",
)
def test_bad_sizes(candidate, draw):
    for sizes, why in (
        ((50, 6, 2), "embed_dim 50 with 6 heads"),
        ((60, 6, 4), "6 heads with 4 key/value heads"),
        ((30, 6, 2), "heads of 5 features, which is odd"),
        ((18, 6, 3), "heads of 3 features, which is odd"),
        ((6, 6, 3), "heads of 1 feature, which is odd"),
    ):
        assert_rejected(candidate.DecoderAttention, *sizes, None, why=why)
    assert_rejected(
        layer_of(candidate),
        draw.normal(B, 5, E - 1),
        why="an input of another width than embed_dim",
    )


test_work_of_a_step = caching.test_work_of_a_step


test_written_from_scratch = restated(
    caching.test_written_from_scratch, after=("many_steps", "window_on_warm_cache")
)


test_no_loop = caching.test_no_loop
test_step_writes_little = caching.test_step_writes_little
test_gpu_float32 = caching.test_gpu_float32
test_gpu_half = caching.test_gpu_half
test_gpu_device = caching.test_gpu_device
