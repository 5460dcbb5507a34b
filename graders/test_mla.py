"""Multi-head latent attention: a latent is cached, and steps must equal one full pass."""

# B batch  L new positions  T cached positions  H heads  D head size  E = H·D width  C latent width

import torch
from graders.shared import caching

from mha_judge.grading import (
    assert_close,
    assert_rejected,
    check,
    fail,
    restated,
)

E, H, C = 33, 3, 13  # D = 11: a latent is wider than a head and narrower than two
B = 2
OPTIONS = [{}]


def layer_of(candidate, embed_dim=E, num_heads=H, latent_dim=C, dtype=torch.float32):
    return candidate.MultiHeadLatentAttention(
        embed_dim=embed_dim, num_heads=num_heads, latent_dim=latent_dim, dtype=dtype
    )


def queries_and_keys(layer, x):
    """Return those of positions (N, E) in float64, (N, H, D) each."""
    reference, _ = layer.references()
    q, k = reference.q_proj(x), reference.k_up_proj(reference.down_proj(x))
    return q.unflatten(-1, (H, -1)), k.unflatten(-1, (H, -1))


def cache_of(draw, length, batch=B, dtype=torch.float32):
    return draw.normal(batch, length, C, dtype=dtype)


test_constructor = restated(
    caching.test_constructor,
    "Is made with (embed_dim, num_heads, latent_dim), and has maps q, down, up_k, up_v and out",
    points=3,
)


@check(
    "Returns (output, cache): (B, L, E), and one tensor of latents, (B, L, C)",
    category="shape",
    points=4,
    after="constructor",
)
def test_prefill_shape(candidate, draw):
    answer = layer_of(candidate)(draw.normal(B, 5, E))

    assert answer.output.shape == (B, 5, E)
    assert answer.cache.shape == (B, 5, C)


@check("A prefill is causal attention", category="values", points=4, after="prefill_shape")
def test_prefill(candidate, draw):
    layer = layer_of(candidate)
    for length in (1, 2, 7, 13):
        assert_close(layer(draw.normal(B, length, E)), "output")
    assert_close(layer(draw.normal(1, 1030, E)), "output")  # there is no limit to the length


test_cache_values = restated(
    caching.test_cache_values,
    "The cache holds what the down map makes of each position, oldest first",
)
test_one_step = caching.test_one_step
test_many_steps = caching.test_many_steps
test_steps_from_nothing = caching.test_steps_from_nothing


@check(
    "The latent may be narrower than a head, or wider than the model",
    category="values",
    points=2,
    after="one_step",
)
def test_latent_widths(candidate, draw):
    for width in (1, 2, 20, 47):
        layer = layer_of(candidate, latent_dim=width)
        for answer in caching.run_chunks(layer, draw.normal(B, 7, E), [4, 1, 2]):
            assert_close(answer, "output", "cache")


test_chunk_on_warm_cache = caching.test_chunk_on_warm_cache
test_future_is_not_felt = caching.test_future_is_not_felt
test_two_continuations = caching.test_two_continuations
test_old_caches_stay = caching.test_old_caches_stay


test_no_hidden_state = restated(
    caching.test_no_hidden_state,
    "Nothing hides in the module: another instance continues from the latents alone",
)


test_starts_anew = caching.test_starts_anew
test_inputs_unchanged = caching.test_inputs_unchanged


@check(
    "Latents from elsewhere serve, few or many: only their values count",
    category="values",
    points=2,
    after="one_step",
)
def test_foreign_cache(candidate, draw):
    layer = layer_of(candidate)
    for T in (7, 4200):
        assert_close(layer(draw.normal(B, 2, E), draw.normal(B, T, C)), "output", "cache")


@check(
    "Sizes of 1 are sizes like others: B = 1, H = 1, D = 1",
    category="shape",
    points=1,
    after="one_step",
)
def test_size_one(candidate, draw):
    for batch, heads, width in ((1, 3, 33), (2, 1, 11), (2, 5, 5), (1, 1, 2)):
        layer = layer_of(candidate, width, heads, 3)
        for answer in caching.run_chunks(layer, draw.normal(batch, 6, width), [3, 1, 2]):
            assert_close(answer, "output", "cache")


test_large_logits = caching.test_large_logits
test_float64 = caching.test_float64
test_bfloat16 = caching.test_bfloat16


test_gradients = restated(
    caching.test_gradients,
    "Without a cache, gradients reach x and all five maps, and are right",
)


test_non_contiguous = caching.test_non_contiguous


@check(
    "A width that the heads do not divide raises, inputs and latents of another width too",
    category="robustness",
    points=1,
    after="prefill_shape",
)
def test_bad_sizes(candidate, draw):
    assert_rejected(candidate.MultiHeadLatentAttention, 10, 3, 4, why="embed_dim 10 with 3 heads")
    layer = layer_of(candidate)
    x = draw.normal(B, 5, E)
    assert_rejected(layer, x[..., :-1], why="an input of another width than embed_dim")
    for width in (C - 1, C + 1, 2 * C):  # all numbers of the last make whole latents
        assert_rejected(layer, x, draw.normal(B, 4, width), why=f"latents of {width}, not {C}")


test_work_of_a_step = caching.test_work_grows_with_the_cache
test_written_from_scratch = caching.test_written_from_scratch
test_no_loop = caching.test_no_loop
test_step_writes_little = caching.test_step_writes_little


@check(
    "float64 inputs give float64 precision",
    category="numerics",
    points=0,
    after="float64",
    advisory=True,
)
def test_float64_precision(candidate, draw):
    answer = layer_of(candidate, dtype=torch.float64)(draw.normal(B, 5, E, dtype=torch.float64))

    if (answer.output - answer.expected["output"].exact).abs().max() > 1e-10:
        fail("computes in float32 on the way: float64 inputs come out with float32 precision")


test_weights_set_again = caching.test_weights_set_again
test_gpu_float32 = caching.test_gpu_float32
test_gpu_half = caching.test_gpu_half
test_gpu_device = caching.test_gpu_device
