"""Checks of layers that are called with x (B, L, E) and a cache, that several graders take.

A grader has the sizes B and E; `layer_of(candidate, embed_dim=E, num_heads=H, dtype=…)`; OPTIONS,
what else it is made with, such as a window, one dict for each kind of layer; `cache_of(draw, T,
batch=B, dtype=…)`, a cache of T random positions, k and v of (B, heads, T, D) or one tensor
(B, T, C); and `queries_and_keys(layer, x)`, which returns those of positions (N, E) in float64,
(N, H, D) each.
"""

from functools import partial

import torch

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_grows_at_most,
    assert_inputs_unchanged,
    assert_no_extra_parameters,
    assert_operations_do_not_grow,
    assert_stays_on_device,
    assert_written_from_scratch,
    check,
    fail,
    gradient_modes,
)
from mha_judge.grading.checks.extremes import lowest_with_itself
from mha_judge.grading.expecting.compare import compare


def run_chunks(layer, x, lengths):
    """Yield the answer to each chunk of x, every one with the cache of the one before."""
    cache = None
    for chunk in x.split(lengths, dim=1):
        answer = layer(chunk, cache, keep=True)
        yield answer
        cache = answer.live("cache")


def is_right(answer):
    """Return whether an answer is right; where it is not, a claim about its gradient mode tells."""
    try:
        assert_close(answer, "output", "cache")
    except AssertionError:
        return False
    return True


def layers_of(grader, candidate):
    """Yield a layer of each kind that the grader has."""
    for options in grader.OPTIONS:
        yield grader.layer_of(candidate, **options)


def tensors_of(cache):
    return [cache] if isinstance(cache, torch.Tensor) else list(cache)


def cache_from(tensors):
    """Return one tensor alone, or a pair."""
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


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
    modes = [*gradient_modes(candidate)]  # old caches may be written to in one of them only
    for mode, length in (*((mode, 5) for mode in modes), *((mode, 600) for mode in modes[:2])):
        first = layer(draw.normal(B, length, E), keep=True, mode=mode)
        prefix = layer(draw.normal(B, 1, E), first.live("cache"), keep=True, mode=mode)
        branches = []
        for _ in range(3):
            x = draw.normal(B, 2, E)
            branches.append(layer(x, prefix.live("cache"), keep=True, mode=mode))
            assert_close(branches[-1], "output", "cache")
        for branch in branches:  # the first after the last was made, which is as long
            answer = layer(draw.normal(B, 1, E), branch.live("cache"), mode=mode)
            assert_close(answer, "output", "cache")


@check("A cache once returned never changes", category="robustness", points=3, after="one_step")
def test_old_caches_stay(grader, candidate, draw):
    B, E = grader.B, grader.E
    for layer in layers_of(grader, candidate):
        answers = list(run_chunks(layer, draw.normal(B, 23, E), [4, 1, 1, 1, 3, 11, 2]))
        layer(draw.normal(B, 3, E), answers[0].live("cache"))
        for mode in [*gradient_modes(candidate)][:2]:  # back to 5 of 9 positions
            answers.append(layer(draw.normal(B, 9, E), keep=True, mode=mode))
            rolled_back = answers[-1].live("cache", 5, axis=-2)
            assert_close(layer(draw.normal(B, 2, E), rolled_back, mode=mode), "output", "cache")

        for step, answer in enumerate(answers):
            again = zip(
                tensors_of(layer.read(answer.live("cache"))), answer.pairs("cache"), strict=True
            )
            for found, (_, expected, _) in again:
                compare(found, expected, f"the cache that call {step + 1} returned, read again,")


@check(
    "Nothing hides in the module: another instance continues from the cache alone",
    category="robustness",
    points=3,
    after="one_step",
)
def test_no_hidden_state(grader, candidate, draw):
    B, E = grader.B, grader.E
    layer = grader.layer_of(candidate)
    twin = layer.twin()
    prefix = layer(draw.normal(B, 5, E), keep=True)
    layer(draw.normal(B, 5, E))  # an unrelated call, as long as the prefix, before the step

    assert_close(twin(draw.normal(B, 2, E), prefix.live("cache")), "output", "cache")
    assert_close(layer(draw.normal(B, 1, E), prefix.live("cache")), "output", "cache")
    # a caller puts the items of a beam search in another order, in place, where no graph is
    prefix = layer(draw.normal(B, 5, E), keep=True, mode="no_grad")
    if is_right(prefix):
        turned = prefix.live("cache", turned=True)
        answer = layer(draw.normal(B, 1, E), turned, mode="no_grad")
        assert_close(answer, "output", "cache")
    if "inference_mode" in gradient_modes(candidate):  # where room for later steps may be made
        prefix = layer(draw.normal(B, 5, E), keep=True, mode="inference_mode")
        answer = layer(draw.normal(B, 1, E), prefix.live("cache"), mode="no_grad")
        assert_close(answer, "output", "cache")
    for changed in ([0], [-1], [0, -1]):  # of k and v; all else is as the call before returned it
        cache = layer(draw.normal(B, 5, E)).tensors("cache")
        at = draw.integer(1, 4)
        for index in changed:
            cache[index] = cache[index].clone(memory_format=torch.contiguous_format)
            rows = cache[index].flatten(0, -3)[-1]  # of the last head
            rows[at] = draw.normal(rows.shape[-1])
        assert_close(layer(draw.normal(B, 1, E), cache_from(cache)), "output", "cache")


@check("Calls without a cache start anew", category="robustness", points=1, after="prefill")
def test_starts_anew(grader, candidate, draw):
    E = grader.E
    layer = grader.layer_of(candidate)
    for B in (2, 3, 1):
        assert_close(layer(draw.normal(B, 5, E)), "output", "cache")


@check("Input and cache are left as they were", category="robustness", points=2, after="one_step")
def test_inputs_unchanged(grader, candidate, draw):
    B, E = grader.B, grader.E
    for layer in layers_of(grader, candidate):
        assert_inputs_unchanged(layer, draw.normal(B, 3, E))
        assert_inputs_unchanged(layer, draw.normal(B, 3, E), grader.cache_of(draw, 5))


@check("Large logits stay finite and right", category="numerics", points=2, after="one_step")
def test_large_logits(grader, candidate, draw):
    B, E = grader.B, grader.E
    layer = grader.layer_of(candidate)
    low = lowest_with_itself(draw, E, partial(grader.queries_and_keys, layer))
    for lengths, signs in (([2, 2], [1, 1, 1, -1]), ([1, 3], [1, 1, -1, -1])):
        x = torch.stack([sign * low for sign in signs])[None]  # later ones are blocked, and high
        for answer in run_chunks(layer, x, lengths):
            assert_close(answer, "output")
    for scale in (30.0, 100.0):
        for answer in run_chunks(layer, scale * draw.normal(B, 8, E), [4, 1, 3]):
            assert_close(answer, "output")


@check("float64 in, float64 out", category="numerics", points=1, after="one_step")
def test_float64(grader, candidate, draw):
    B, E = grader.B, grader.E
    layer = grader.layer_of(candidate, dtype=torch.float64)
    for answer in run_chunks(layer, draw.normal(B, 6, E, dtype=torch.float64), [3, 1, 2]):
        assert_close(answer, "output", "cache")


@check("bfloat16 in, bfloat16 out", category="numerics", points=1, after="one_step")
def test_bfloat16(grader, candidate, draw):
    B, E, dtype = grader.B, grader.E, torch.bfloat16
    layer = grader.layer_of(candidate, dtype=dtype)
    for answer in run_chunks(layer, draw.normal(B, 6, E, dtype=dtype), [3, 1, 2]):
        assert_close(answer, "output", "cache")
    cache = grader.cache_of(draw, 5, dtype=dtype)
    assert_close(layer(draw.normal(B, 3, E, dtype=dtype), cache), "output", "cache")


@check(
    "Without a cache, gradients reach x and the weights, and are right",
    category="gradients",
    points=3,
    after="prefill_shape",
)
def test_gradients(grader, candidate, draw):
    B, E = grader.B, grader.E
    for layer in layers_of(grader, candidate):
        assert_gradients_match(
            layer,
            draw.normal(B, 5, E),
            wrt=(0,),
            cotangents=[draw.normal(B, 5, E)],
            parameters=True,
        )


@check(
    "A strided input, as transposing makes it, gives the same",
    category="robustness",
    points=1,
    after="one_step",
)
def test_non_contiguous(grader, candidate, draw):
    B, E = grader.B, grader.E
    strided = [one.mT.contiguous().mT for one in tensors_of(grader.cache_of(draw, 7))]
    x = draw.normal(3, B, E).transpose(0, 1)

    assert_close(grader.layer_of(candidate)(x, cache_from(strided)), "output", "cache")


@check(
    "Old positions are not projected again, and a step's work grows with T, not T²",
    category="cost",
    points=3,
    after="many_steps",
)
def test_work_of_a_step(grader, candidate, draw):
    E = grader.E
    layer = grader.layer_of(candidate)
    flops = {}
    for T in (64, 128, 256):
        prefix = layer(draw.normal(1, T, E), keep=True)
        flops[T] = layer.observe(draw.normal(1, 1, E), prefix.live("cache")).flops

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


@check("A step's work grows with T, not with T²", category="cost", points=3, after="one_step")
def test_work_grows_with_the_cache(grader, candidate, draw):
    E = grader.E
    layer = grader.layer_of(candidate)
    layer(draw.normal(1, 1, E))  # what the first call makes once for all is no work of a step
    flops = {
        T: layer.observe(draw.normal(1, 1, E), grader.cache_of(draw, T, batch=1)).flops
        for T in (64, 128, 256)
    }

    # what the cached positions add: twice as many should add twice as much
    first, second = flops[128] - flops[64], flops[256] - flops[128]
    assert_grows_at_most(
        first, second, 2.5, "the work for 64 more cached positions, then 128 more,"
    )


@check(
    "Written from scratch: no fused or official attention",
    category="policy",
    points=3,
    after="many_steps",
)
def test_written_from_scratch(grader, candidate, draw):
    B, E = grader.B, grader.E
    for layer in layers_of(grader, candidate):
        prefix = layer(draw.normal(B, 7, E), keep=True)

        assert_written_from_scratch(candidate, layer, draw.normal(B, 3, E))
        assert_written_from_scratch(candidate, layer, draw.normal(B, 1, E), prefix.live("cache"))


@check(
    "No Python loop over positions or heads",
    category="policy",
    points=0,
    after="prefill_shape",
    advisory=True,
)
def test_no_loop(grader, candidate, draw):
    B, E = grader.B, grader.E
    layer = grader.layer_of(candidate)
    layer(draw.normal(B, 12, E))  # tables that grow with the longest call are made by now
    short, long = layer.observe(draw.normal(B, 3, E)), layer.observe(draw.normal(B, 12, E))
    assert_operations_do_not_grow(short, long, "positions")

    few, many = (
        grader.layer_of(candidate, 32, heads).observe(draw.normal(B, 3, 32)) for heads in (2, 8)
    )
    assert_operations_do_not_grow(few, many, "heads")


@check(
    "What a step writes grows with T, not with T²: it makes no mask of T × T",
    category="cost",
    points=0,
    after="many_steps",
    advisory=True,
)
def test_step_writes_little(grader, candidate, draw):
    E = grader.E
    layer = grader.layer_of(candidate)
    written = {}
    for T in (64, 128, 256):
        prefix = layer(draw.normal(1, T, E), keep=True)
        step = layer.observe(draw.normal(1, 1, E), prefix.live("cache"))
        written[T] = step.written_elements

    first, second = written[128] - written[64], written[256] - written[128]
    what = "what a step writes, for 64 more cached positions, then 128 more,"
    assert_grows_at_most(first, second, 2.5, what)


@check(
    "Weights that are set again are used from then on: nothing made of them is kept",
    category="robustness",
    points=2,
    after="many_steps",
)
def test_weights_set_again(grader, candidate, draw):
    B, E = grader.B, grader.E
    layer = grader.layer_of(candidate)
    x = draw.normal(B, 5, E)
    *_, before = run_chunks(layer, x[:, :4], [3, 1])
    assert_close(before, "output")

    layer.redraw()

    assert_close(layer(x[:, 4:], before.live("cache")), "output")  # old latents, new maps
    for answer in run_chunks(layer, x, [3, 2]):
        assert_close(answer, "output")


@check(
    "On a GPU in float32: the same values and caches, chunk by chunk",
    category="gpu",
    points=2,
    after="many_steps",
)
def test_gpu_float32(grader, gpu, draw):
    B, E = grader.B, grader.E
    for layer in layers_of(grader, gpu):
        for answer in run_chunks(layer, draw.normal(B, 6, E), [3, 1, 2]):
            assert_close(answer, "output")


@check("On a GPU in bfloat16: the same values", category="gpu", points=2, after="gpu_float32")
def test_gpu_half(grader, gpu, draw):
    B, E, dtype = grader.B, grader.E, torch.bfloat16
    layer = grader.layer_of(gpu, dtype=dtype)
    for answer in run_chunks(layer, draw.normal(B, 4, E, dtype=dtype), [3, 1]):
        assert_close(answer, "output")


@check(
    "On a GPU: what is computed and returned stays there",
    category="gpu",
    points=2,
    after="many_steps",
)
def test_gpu_device(grader, gpu, draw):
    B, E = grader.B, grader.E
    for layer in layers_of(grader, gpu):
        *_, second = run_chunks(layer, draw.normal(B, 5, E), [3, 2])

        assert_stays_on_device(gpu, layer, draw.normal(B, 3, E), None)
        assert_stays_on_device(gpu, layer, draw.normal(B, 1, E), second.live("cache"))
