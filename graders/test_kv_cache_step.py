"""Causal self-attention with a cache: steps must equal one full pass."""

# B batch  L new positions  T cached positions  H heads  D head size  E = H·D width

import torch
from graders.shared import caching

from mha_judge.grading import (
    assert_close,
    assert_inputs_unchanged,
    assert_operations_do_not_grow,
    assert_rejected,
    assert_stays_on_device,
    assert_written_from_scratch,
    check,
    fail,
)
from mha_judge.grading.expecting.compare import compare

E, H = 33, 3  # D = 11
B = 2


def layer_of(candidate, embed_dim=E, num_heads=H, dtype=torch.float32):
    return candidate.CachedSelfAttention(embed_dim=embed_dim, num_heads=num_heads, dtype=dtype)


def queries_and_keys(layer, x):
    """Return those of positions (N, E) in float64, (N, H, D) each."""
    reference, _ = layer.references()
    q, k = reference.q_proj(x), reference.k_proj(x)
    return q.unflatten(-1, (H, -1)), k.unflatten(-1, (H, -1))


test_constructor = caching.test_constructor


@check(
    "Without a cache returns (output, (k, v)): (B, L, E) and (B, H, L, D) each",
    category="shape",
    points=3,
    after="constructor",
)
def test_prefill_shape(candidate, draw):
    answer = layer_of(candidate)(draw.normal(B, 5, E))

    assert answer.output.shape == (B, 5, E)
    assert [t.shape for t in answer.tensors("cache")] == [(B, H, 5, E // H)] * 2


@check("A prefill is causal attention", category="values", points=4, after="prefill_shape")
def test_prefill(candidate, draw):
    layer = layer_of(candidate)
    for length in (1, 2, 7, 13):
        assert_close(layer(draw.normal(B, length, E)), "output")


test_cache_values = caching.test_cache_values
test_one_step = caching.test_one_step
test_many_steps = caching.test_many_steps
test_steps_from_nothing = caching.test_steps_from_nothing
test_chunk_on_warm_cache = caching.test_chunk_on_warm_cache
test_future_is_not_felt = caching.test_future_is_not_felt
test_two_continuations = caching.test_two_continuations


@check("A cache once returned never changes", category="robustness", points=3, after="one_step")
def test_old_caches_stay(candidate, draw):
    layer = layer_of(candidate)
    answers = list(caching.run_chunks(layer, draw.normal(B, 12, E), [4, 1, 1, 1, 3, 2]))
    layer(draw.normal(B, 3, E), answers[0].live("cache"))

    for step, answer in enumerate(answers):
        for found, (_, expected, _) in zip(
            layer.read(answer.live("cache")), answer.pairs("cache"), strict=True
        ):
            compare(found, expected, f"the cache returned by call {step + 1}, read again later,")


@check(
    "Nothing hides in the module: another instance continues from the cache alone",
    category="robustness",
    points=3,
    after="one_step",
)
def test_no_hidden_state(candidate, draw):
    layer = layer_of(candidate)
    twin = layer.twin()
    prefix = layer(draw.normal(B, 5, E), keep=True)
    layer(draw.normal(B, 5, E))  # an unrelated call, as long as the prefix, before the step

    assert_close(twin(draw.normal(B, 2, E), prefix.live("cache")), "output", "cache")
    assert_close(layer(draw.normal(B, 1, E), prefix.live("cache")), "output", "cache")
    for changed in ("k", "v", "kv"):  # all else is as the call before returned it
        cache = dict(zip("kv", layer(draw.normal(B, 5, E)).tensors("cache"), strict=True))
        at = draw.integer(1, 4)
        for name in changed:
            cache[name] = cache[name].clone()
            cache[name][-1, -1, at] = draw.normal(E // H)
        assert_close(layer(draw.normal(B, 1, E), tuple(cache.values())), "output", "cache")


test_starts_anew = caching.test_starts_anew


@check("Input and cache are left as they were", category="robustness", points=2, after="one_step")
def test_inputs_unchanged(candidate, draw):
    layer = layer_of(candidate)
    cache = (draw.normal(B, H, 5, E // H), draw.normal(B, H, 5, E // H))

    assert_inputs_unchanged(layer, draw.normal(B, 3, E))
    assert_inputs_unchanged(layer, draw.normal(B, 3, E), cache)


@check(
    "A cache from elsewhere serves, short or long: only its values count",
    category="values",
    points=2,
    after="one_step",
)
def test_foreign_cache(candidate, draw):
    for T in (7, 2100):
        cache = (draw.normal(B, H, T, E // H), draw.normal(B, H, T, E // H))

        assert_close(layer_of(candidate)(draw.normal(B, 2, E), cache), "output", "cache")


@check(
    "Sizes of 1 are sizes like others: B = 1, H = 1, D = 1",
    category="shape",
    points=1,
    after="one_step",
)
def test_size_one(candidate, draw):
    for batch, heads, width in ((1, 3, 33), (2, 1, 11), (2, 5, 5), (1, 1, 1)):
        layer = layer_of(candidate, width, heads)
        for answer in caching.run_chunks(layer, draw.normal(batch, 6, width), [3, 1, 2]):
            assert_close(answer, "output", "cache")


test_large_logits = caching.test_large_logits
test_float64 = caching.test_float64


@check("bfloat16 in, bfloat16 out", category="numerics", points=1, after="one_step")
def test_bfloat16(candidate, draw):
    layer = layer_of(candidate, dtype=torch.bfloat16)
    for answer in caching.run_chunks(layer, draw.normal(B, 6, E, dtype=torch.bfloat16), [3, 1, 2]):
        assert_close(answer, "output", "cache")
    cache = tuple(draw.normal(B, H, 5, E // H, dtype=torch.bfloat16) for _ in "kv")
    assert_close(layer(draw.normal(B, 3, E, dtype=torch.bfloat16), cache), "output", "cache")


test_gradients = caching.test_gradients


@check(
    "A strided input, as transposing makes it, gives the same",
    category="robustness",
    points=1,
    after="prefill",
)
def test_non_contiguous(candidate, draw):
    cache = (
        draw.normal(B, 7, H, E // H).transpose(1, 2),
        draw.normal(B, 7, H, E // H).transpose(1, 2),
    )

    assert_close(layer_of(candidate)(draw.normal(3, B, E).transpose(0, 1), cache), "output")


@check(
    "A width that the heads do not divide raises, an input of another width too",
    category="robustness",
    points=1,
    after="prefill_shape",
)
def test_bad_sizes(candidate, draw):
    assert_rejected(candidate.CachedSelfAttention, 10, 3, why="embed_dim 10 with 3 heads")
    assert_rejected(
        layer_of(candidate),
        draw.normal(B, 5, E - 1),
        why="an input of another width than embed_dim",
    )


@check(
    "Old positions are not projected again, and a step's work grows with T, not T²",
    category="cost",
    points=3,
    after="many_steps",
)
def test_work_of_a_step(candidate, draw):
    layer = layer_of(candidate)
    flops = {}
    for T in (64, 128, 256):
        cache = (draw.normal(1, H, T, E // H), draw.normal(1, H, T, E // H))
        flops[T] = layer.observe(draw.normal(1, 1, E), cache).flops

    first, second = flops[128] - flops[64], flops[256] - flops[128]
    attending = 4 * 64 * E  # two products of (1, D) and (D, 64) a head, 2 operations an element
    if first > 1.5 * attending:
        fail(
            "old positions seem to be projected again: a step does more than attend to them",
            f"{first} operations for 64 more cached positions; attending to them takes {attending}",
        )
    if second > 2.5 * first:
        fail(
            "the work of a step grows faster than the cache: more than the new scores are computed",
            f"{first} operations more from T = 64 to 128, {second} from 128 to 256",
        )


@check(
    "Written from scratch: no fused or official attention",
    category="policy",
    points=3,
    after="many_steps",
)
def test_written_from_scratch(candidate, draw):
    layer = layer_of(candidate)
    cache = (draw.normal(B, H, 7, E // H), draw.normal(B, H, 7, E // H))

    assert_written_from_scratch(candidate, layer, draw.normal(B, 3, E))
    assert_written_from_scratch(candidate, layer, draw.normal(B, 1, E), cache)


@check(
    "No Python loop over positions or heads",
    category="policy",
    points=0,
    after="prefill_shape",
    advisory=True,
)
def test_no_loop(candidate, draw):
    layer = layer_of(candidate)
    short, long = layer.observe(draw.normal(B, 3, E)), layer.observe(draw.normal(B, 12, E))
    assert_operations_do_not_grow(short, long, "positions")

    few = layer_of(candidate, 24, 2).observe(draw.normal(B, 3, 24))
    many = layer_of(candidate, 24, 8).observe(draw.normal(B, 3, 24))
    assert_operations_do_not_grow(few, many, "heads")


@check(
    "On a GPU in float32: the same values and caches, chunk by chunk",
    category="gpu",
    points=2,
    after="many_steps",
)
def test_gpu_float32(gpu, draw):
    layer = layer_of(gpu)

    for answer in caching.run_chunks(layer, draw.normal(B, 6, E), [3, 1, 2]):
        assert_close(answer, "output")


@check(
    "On a GPU in bfloat16: the same values",
    category="gpu",
    points=2,
    after="gpu_float32",
)
def test_gpu_half(gpu, draw):
    layer = layer_of(gpu, dtype=torch.bfloat16)

    for answer in caching.run_chunks(layer, draw.normal(B, 4, E, dtype=torch.bfloat16), [3, 1]):
        assert_close(answer, "output")


@check(
    "On a GPU: what is computed and returned stays there",
    category="gpu",
    points=2,
    after="many_steps",
)
def test_gpu_device(gpu, draw):
    layer = layer_of(gpu)
    *_, second = caching.run_chunks(layer, draw.normal(B, 5, E), [3, 2])

    assert_stays_on_device(gpu, layer, draw.normal(B, 3, E), None)
    assert_stays_on_device(gpu, layer, draw.normal(B, 1, E), second.live("cache"))
