"""Causal self-attention with a cache: steps must equal one full pass."""

# B batch  L new positions  T cached positions  H heads  D head size  E = H·D width

import torch
from graders.shared import caching

from mha_judge.grading import (
    assert_close,
    assert_rejected,
    check,
)

E, H = 33, 3  # D = 11
B = 2
OPTIONS = [{}]


def layer_of(candidate, embed_dim=E, num_heads=H, dtype=torch.float32):
    return candidate.CachedSelfAttention(embed_dim=embed_dim, num_heads=num_heads, dtype=dtype)


def queries_and_keys(layer, x):
    """Return those of positions (N, E) in float64, (N, H, D) each."""
    reference, _ = layer.references()
    q, k = reference.q_proj(x), reference.k_proj(x)
    return q.unflatten(-1, (H, -1)), k.unflatten(-1, (H, -1))


def cache_of(draw, length, batch=B, dtype=torch.float32):
    return tuple(draw.normal(batch, H, length, E // H, dtype=dtype) for _ in "kv")


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
test_old_caches_stay = caching.test_old_caches_stay
test_no_hidden_state = caching.test_no_hidden_state
test_starts_anew = caching.test_starts_anew
test_inputs_unchanged = caching.test_inputs_unchanged


@check(
    "A cache from elsewhere serves, short or long: only its values count",
    category="values",
    points=2,
    after="one_step",
)
def test_foreign_cache(candidate, draw):
    for T in (7, 2100):
        answer = layer_of(candidate)(draw.normal(B, 2, E), cache_of(draw, T))

        assert_close(answer, "output", "cache")


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
test_bfloat16 = caching.test_bfloat16
test_gradients = caching.test_gradients
test_non_contiguous = caching.test_non_contiguous


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


test_work_of_a_step = caching.test_work_of_a_step
test_written_from_scratch = caching.test_written_from_scratch
test_no_loop = caching.test_no_loop
test_step_writes_little = caching.test_step_writes_little
test_gpu_float32 = caching.test_gpu_float32
test_gpu_half = caching.test_gpu_half
test_gpu_device = caching.test_gpu_device
