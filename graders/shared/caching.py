"""Checks of layers that are called with x (B, L, E) and a cache, that several graders take.

A grader has the sizes B and E, `layer_of(candidate, dtype=…)`, and `queries_and_keys(layer, x)`,
which returns those of positions (N, E) in float64, (N, H, D) each.
"""

from functools import partial

import torch

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_no_extra_parameters,
    check,
    fail,
    gradient_modes,
)
from mha_judge.grading.checks.extremes import lowest_with_itself


def run_chunks(layer, x, lengths):
    """Yield the answer to each chunk of x, every one with the cache of the one before."""
    cache = None
    for chunk in x.split(lengths, dim=1):
        answer = layer(chunk, cache, keep=True)
        yield answer
        cache = answer.live("cache")


@check(
    "Is made with (embed_dim, num_heads), and has maps for q, k, v and the output",
    category="shape",
    points=2,
)
def test_constructor(grader, candidate, draw):
    assert_no_extra_parameters(grader.layer_of(candidate))


@check(
    "The cache holds the projected keys and values, oldest first",
    category="values",
    points=3,
    after="prefill_shape",
)
def test_cache_values(grader, candidate, draw):
    B, E = grader.B, grader.E
    for answer in run_chunks(grader.layer_of(candidate), draw.normal(B, 9, E), [5, 1, 3]):
        assert_close(answer, "cache")


@check(
    "A first step: the new position attends to the cache and to itself",
    category="values",
    points=3,
    after="prefill_shape",
)
def test_one_step(grader, candidate, draw):
    B, E = grader.B, grader.E
    *_, answer = run_chunks(grader.layer_of(candidate), draw.normal(B, 6, E), [5, 1])

    assert_close(answer, "output")


@check(
    "Step after step equals one full causal pass, past position 16",
    category="values",
    points=5,
    after="one_step",
)
def test_many_steps(grader, candidate, draw):
    B, E = grader.B, grader.E
    layer = grader.layer_of(candidate)
    x = draw.normal(B, 23, E)
    for answer in run_chunks(layer, x, [3] + [1] * 20):
        assert_close(answer, "output")


@check("From an empty start, one position at a time", category="values", points=1, after="one_step")
def test_steps_from_nothing(grader, candidate, draw):
    B, E = grader.B, grader.E
    for answer in run_chunks(grader.layer_of(candidate), draw.normal(B, 5, E), [1] * 5):
        assert_close(answer, "output")


@check(
    "A chunk of several positions on a warm cache is causal within itself",
    category="masking",
    points=4,
    after="one_step",
)
def test_chunk_on_warm_cache(grader, candidate, draw):
    B, E = grader.B, grader.E
    for lengths in ([5, 4], [2, 7], [4, 1, 1, 1, 5], [17, 3, 11]):
        for answer in run_chunks(
            grader.layer_of(candidate), draw.normal(B, sum(lengths), E), lengths
        ):
            assert_close(answer, "output", "cache")


@check(
    "A later position cannot change an earlier output",
    category="masking",
    points=2,
    after="prefill_shape",
)
def test_future_is_not_felt(grader, candidate, draw):
    B, E = grader.B, grader.E
    layer = grader.layer_of(candidate)
    x = draw.normal(B, 7, E)
    changed = x.clone()
    changed[:, 5:] = 10 * draw.normal(B, 2, E)

    before, after = layer(x), layer(changed)

    assert_close(before, "output")
    if not torch.allclose(before.output[:, :5], after.output[:, :5], rtol=1e-4, atol=1e-5):
        fail("the outputs of the first positions change when later positions do")


@check(
    "Two continuations of one prefix do not disturb each other",
    category="robustness",
    points=3,
    after="one_step",
)
def test_two_continuations(grader, candidate, draw):
    B, E = grader.B, grader.E
    layer = grader.layer_of(candidate)
    for mode in gradient_modes(candidate):  # old caches may be written to in one of them only
        first = layer(draw.normal(B, 5, E), keep=True, mode=mode)
        prefix = layer(draw.normal(B, 1, E), first.live("cache"), keep=True, mode=mode)
        branches = []
        for _ in range(3):
            x = draw.normal(B, 2, E)
            branches.append(layer(x, prefix.live("cache"), keep=True, mode=mode))
            assert_close(branches[-1], "output", "cache")
        for branch in branches:  # the first after the last was made, which is as long
            answer = layer(draw.normal(B, 1, E), branch.live("cache"), mode=mode)
            assert_close(answer, "output", "cache")


@check("Calls without a cache start anew", category="robustness", points=1, after="prefill")
def test_starts_anew(grader, candidate, draw):
    E = grader.E
    layer = grader.layer_of(candidate)
    for B in (2, 3, 1):
        assert_close(layer(draw.normal(B, 5, E)), "output", "cache")


@check("Large logits stay finite and right", category="numerics", points=2, after="one_step")
def test_large_logits(grader, candidate, draw):
    B, E = grader.B, grader.E
    layer = grader.layer_of(candidate)
    for scale in (30.0, 100.0):
        for answer in run_chunks(layer, scale * draw.normal(B, 8, E), [4, 1, 3]):
            assert_close(answer, "output")
    low = lowest_with_itself(draw, E, partial(grader.queries_and_keys, layer))
    for lengths, signs in (([2, 2], [1, 1, 1, -1]), ([1, 3], [1, 1, -1, -1])):
        x = torch.stack([sign * low for sign in signs])[None]  # later ones are blocked, and high
        for answer in run_chunks(layer, x, lengths):
            assert_close(answer, "output")


@check("float64 in, float64 out", category="numerics", points=1, after="one_step")
def test_float64(grader, candidate, draw):
    B, E = grader.B, grader.E
    layer = grader.layer_of(candidate, dtype=torch.float64)
    for answer in run_chunks(layer, draw.normal(B, 6, E, dtype=torch.float64), [3, 1, 2]):
        assert_close(answer, "output", "cache")


@check(
    "Without a cache, gradients reach x and the weights, and are right",
    category="gradients",
    points=3,
    after="prefill_shape",
)
def test_gradients(grader, candidate, draw):
    B, E = grader.B, grader.E
    cotangents = [draw.normal(B, 5, E)]

    assert_gradients_match(
        grader.layer_of(candidate),
        draw.normal(B, 5, E),
        wrt=(0,),
        cotangents=cotangents,
        parameters=True,
    )
