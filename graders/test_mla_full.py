"""Latent attention whole: compressed queries, a shared rotary key; steps must equal one pass."""

# B batch  L new positions  T cached positions  H heads  D head size  E = H·D width
# Q query latent width  C latent width  R rotary width

import torch
from graders.shared import caching

from mha_judge.grading import (
    assert_close,
    assert_rejected,
    check,
    restated,
)

E, H, Q, C, R = 30, 3, 19, 13, 4  # no two maps have one shape, not even fused ones; D = 10
B = 2
OPTIONS = [{}]


def layer_of(candidate, embed_dim=E, num_heads=H, query=Q, latent=C, rope=R, dtype=torch.float32):
    return candidate.RotaryLatentAttention(
        embed_dim=embed_dim,
        num_heads=num_heads,
        query_latent_dim=query,
        latent_dim=latent,
        rope_dim=rope,
        dtype=dtype,
    )


def queries_and_keys(layer, x):
    """Return those of positions (N, E) in float64, (N, H, D + R) each, before they are turned."""
    reference, _ = layer.references()
    latent = reference.q_down_proj(x)
    q = [
        part.unflatten(-1, (H, -1))
        for part in (reference.q_up_proj(latent), reference.q_rope_proj(latent))
    ]
    k = reference.k_up_proj(reference.down_proj(x)).unflatten(-1, (H, -1))
    shared = reference.k_rope_proj(x).unsqueeze(1).expand(-1, H, -1)
    return torch.cat(q, -1), torch.cat((k, shared), -1)


def cache_of(draw, length, batch=B, rope=R, dtype=torch.float32):
    return tuple(draw.normal(batch, length, width, dtype=dtype) for width in (C, rope))


test_constructor = restated(
    caching.test_constructor,
    "Is made with (embed_dim, num_heads, query_latent_dim, latent_dim, rope_dim), and has its "
    "eight maps",
    points=3,
)


@check(
    "Returns (output, (latents, turned keys)): (B, L, E), (B, L, C) and (B, L, R)",
    category="shape",
    points=4,
    after="constructor",
)
def test_prefill_shape(candidate, draw):
    answer = layer_of(candidate)(draw.normal(B, 5, E))

    assert answer.output.shape == (B, 5, E)
    assert [t.shape for t in answer.tensors("cache")] == [(B, 5, C), (B, 5, R)]


@check(
    "A prefill is causal attention by content and by turned features",
    category="values",
    points=5,
    after="prefill_shape",
)
def test_prefill(candidate, draw):
    layer = layer_of(candidate)
    for length in (1, 2, 7, 13):
        assert_close(layer(draw.normal(B, length, E)), "output")
    assert_close(layer(draw.normal(1, 1030, E)), "output")  # there is no limit to the length


test_cache_values = restated(
    caching.test_cache_values,
    "The cache holds latents, and keys turned by their positions, oldest first",
)


@check(
    "Features i and i + R/2 turn by position · 10000^(−2i/R), for small and for large R",
    category="values",
    points=2,
    after="prefill_shape",
)
def test_frequencies(candidate, draw):
    for width in (2, 6, 10, 64):
        assert_close(layer_of(candidate, rope=width)(draw.normal(B, 9, E)), "output", "cache")


test_one_step = caching.test_one_step
test_many_steps = caching.test_many_steps
test_steps_from_nothing = caching.test_steps_from_nothing


@check(
    "Both latents may be narrower than a head, or wider than the model",
    category="values",
    points=2,
    after="one_step",
)
def test_latent_widths(candidate, draw):
    for query, latent in ((1, 47), (47, 1), (20, 2), (13, 13)):
        layer = layer_of(candidate, query=query, latent=latent)
        for answer in caching.run_chunks(layer, draw.normal(B, 7, E), [4, 1, 2]):
            assert_close(answer, "output", "cache")


test_chunk_on_warm_cache = caching.test_chunk_on_warm_cache
test_future_is_not_felt = caching.test_future_is_not_felt
test_two_continuations = caching.test_two_continuations
test_old_caches_stay = caching.test_old_caches_stay
test_no_hidden_state = caching.test_no_hidden_state
test_starts_anew = caching.test_starts_anew
test_inputs_unchanged = caching.test_inputs_unchanged


@check(
    "A cache from elsewhere serves, short or long: only its values and its length count",
    category="values",
    points=2,
    after="one_step",
)
def test_foreign_cache(candidate, draw):
    layer = layer_of(candidate)
    for T in (7, 4200):
        assert_close(layer(draw.normal(B, 2, E), cache_of(draw, T)), "output", "cache")


@check(
    "Sizes of 1 are sizes like others: B = 1, H = 1, D = 1, and R = 2",
    category="shape",
    points=1,
    after="one_step",
)
def test_size_one(candidate, draw):
    for batch, heads, width, rope in ((1, 3, 30, 4), (2, 1, 10, 4), (2, 5, 5, 2), (1, 1, 1, 2)):
        layer = layer_of(candidate, width, heads, 7, 4, rope)
        for answer in caching.run_chunks(layer, draw.normal(batch, 6, width), [3, 1, 2]):
            assert_close(answer, "output", "cache")


test_large_logits = caching.test_large_logits
test_float64 = caching.test_float64
test_bfloat16 = caching.test_bfloat16


@check(
    "bfloat16 does not blur the positions: angles are computed in float32",
    category="numerics",
    points=2,
    after=("bfloat16", "foreign_cache"),
)
def test_bfloat16_far_on(candidate, draw):
    layer = layer_of(candidate, rope=12, dtype=torch.bfloat16)
    for T, length in ((4900, 24), (301, 24), (1001, 1)):
        x = draw.normal(B, length, E, dtype=torch.bfloat16)
        cache = cache_of(draw, T, rope=12, dtype=torch.bfloat16)
        few = tuple(0.01 * one for one in cache)  # small, as the largest number sets the tolerance
        assert_close(layer(0.1 * x, few), "cache", "output")
        assert_close(layer(x, cache), "cache", "output")


test_gradients = restated(
    caching.test_gradients,
    "Without a cache, gradients reach x and all eight maps, and are right",
)


test_non_contiguous = caching.test_non_contiguous


@check(
    "Heads that do not divide raise, an odd R, and an input or a cache of another width",
    category="robustness",
    points=2,
    after="prefill_shape",
)
def test_bad_sizes(candidate, draw):
    for sizes, why in (
        ((10, 3, 6, 5, 4), "embed_dim 10 with 3 heads"),
        ((30, 3, 19, 13, 5), "a rope_dim of 5, which is odd"),
        ((30, 3, 19, 13, 3), "a rope_dim of 3, which is odd"),
        ((30, 3, 19, 13, 1), "a rope_dim of 1, which is odd"),
    ):
        assert_rejected(candidate.RotaryLatentAttention, *sizes, why=why)
    layer = layer_of(candidate)
    x = draw.normal(B, 5, E)
    assert_rejected(layer, x[..., :-1], why="an input of another width than embed_dim")
    latents, keys = cache_of(draw, 4)
    for cache, why in (
        ((latents[..., :-1], keys), f"latents of {C - 1}, not {C}"),
        ((torch.cat((latents, latents), -1), keys), f"latents of {2 * C}, not {C}"),
        ((latents, keys[..., :-2]), f"turned keys of {R - 2}, not {R}"),
        ((latents, torch.cat((keys, keys), -1)), f"turned keys of {2 * R}, not {R}"),
        ((latents, cache_of(draw, 6)[1]), "latents of 4 positions and turned keys of 6"),
        ((cache_of(draw, 6)[0], keys), "latents of 6 positions and turned keys of 4"),
        (cache_of(draw, 4, batch=B + 1), f"a cache of {B + 1} items beside {B}"),
    ):
        assert_rejected(layer, x, cache, why=why)


test_work_of_a_step = caching.test_work_grows_with_the_cache
test_written_from_scratch = caching.test_written_from_scratch
test_no_loop = caching.test_no_loop
test_step_writes_little = caching.test_step_writes_little


test_weights_set_again = caching.test_weights_set_again
test_gpu_float32 = caching.test_gpu_float32
test_gpu_half = caching.test_gpu_half
test_gpu_device = caching.test_gpu_device
