"""What attention costs: formulas compared as growth, functions against measurements."""

import torch
from reference import complexity, kv_cache_step, masked_mha

from mha_judge.grading import assert_count, assert_same_formula, assert_same_growth, check
from mha_judge.worker.observation import watching

LETTERS = "ndhBNGkTwb"
AT_MOST = (("h", "d"), ("G", "h"), ("w", "n"))
INVERSES = (49, 98, 103, 107, 161)  # heads · (1 / heads) is not 1 in floats
# B, n, d, h; the last count is one that float32 does not hold
SIZES = ((1, 5, 12, 3), (2, 7, 12, 4), (3, 16, 20, 5), (1, 31, 6, 1), (1, 517, 130, 13))


def counted(candidate, draw, name):
    """Hold a count against the reference where one of its sizes after another is large.

    Counts stay below 2⁵³, so that floats hold them.
    """
    function, count = getattr(candidate, name), getattr(complexity, name)
    if function.entry.arguments[2:] == ["d", "h"]:
        for heads in INVERSES:
            sizes = [draw.integer(1, 9), draw.integer(1, 9), heads * draw.integer(1, 3), heads]
            assert_count(function, count(*sizes), *sizes)
    for index in range(len(function.entry.arguments)):
        for low, high in ((12, 99), (100, 999), (4_096, 65_535)):
            sizes = [draw.integer(1, 9) for _ in function.entry.arguments]
            sizes[index] = draw.integer(low, high)
            if function.entry.arguments[2:] == ["d", "h"]:
                sizes[2] *= sizes[3]  # the heads divide the width

            assert_count(function, count(*sizes), *sizes)


def growth(candidate, key, follows=None):
    answer = candidate.ANSWERS.get(key)

    assert_same_growth(answer, complexity.ANSWERS[key], LETTERS, AT_MOST, follows)


def exact(candidate, key):
    assert_same_formula(candidate.ANSWERS.get(key), complexity.ANSWERS[key], LETTERS)


@check(
    "attention_core: q kᵀ and weights · v in all heads",
    category="cost",
    points=3,
    question="attention_core",
)
def test_attention_core(candidate):
    growth(candidate, "attention_core")


@check(
    "full_layer: the core and its four projections",
    category="cost",
    points=3,
    question="full_layer",
)
def test_full_layer(candidate):
    core = candidate.ANSWERS.given("attention_core")

    growth(candidate, "full_layer", ("attention-core", f"({core}) + n*d**2"))


@check(
    "weights_memory: the attention weights of all heads",
    category="cost",
    points=2,
    question="weights_memory",
)
def test_weights_memory(candidate):
    growth(candidate, "weights_memory")


@check(
    "dominant_small_n: the term that dominates when n ≪ d",
    category="cost",
    points=2,
    question="dominant_small_n",
)
def test_dominant_small_n(candidate):
    growth(candidate, "dominant_small_n")


@check(
    "decode_step: one token with T cached, projections included",
    category="cost",
    points=3,
    question="decode_step",
)
def test_decode_step(candidate):
    growth(candidate, "decode_step")


@check(
    "rnn_layer: a recurrent layer over the sequence",
    category="cost",
    points=1,
    question="rnn_layer",
)
def test_rnn_layer(candidate):
    growth(candidate, "rnn_layer")


@check(
    "conv_layer: a convolution of width k over the sequence",
    category="cost",
    points=1,
    question="conv_layer",
)
def test_conv_layer(candidate):
    growth(candidate, "conv_layer")


@check(
    "flash_extra_memory: exact blockwise attention, one head",
    category="cost",
    points=2,
    question="flash_extra_memory",
)
def test_flash_extra_memory(candidate):
    growth(candidate, "flash_extra_memory")


@check(
    "sliding_window: each query meets w keys", category="cost", points=2, question="sliding_window"
)
def test_sliding_window(candidate):
    growth(candidate, "sliding_window")


@check(
    "gqa_cache_fraction: the cache with G heads against that with h, exactly",
    category="values",
    points=2,
    question="gqa_cache_fraction",
)
def test_gqa_cache_fraction(candidate):
    exact(candidate, "gqa_cache_fraction")


@check(
    "gqa_parameters: the four maps with G key/value heads, exactly",
    category="values",
    points=2,
    question="gqa_parameters",
)
def test_gqa_parameters(candidate):
    exact(candidate, "gqa_parameters")


@check(
    "mha_flops: as counted in a running layer", category="values", points=4, question="mha_flops"
)
def test_mha_flops(candidate, draw):
    for B, n, d, h in SIZES:
        layer, x = masked_mha.MultiHeadAttention(d, h), torch.zeros(B, n, d)
        with watching() as seen, torch.no_grad():
            layer(x, x, x)

        assert_count(candidate.mha_flops, seen.flops, B, n, d, h)
    for sizes in ((3, 1_001, 4_097, 1), (2, 8_191, 8_190, 65)):  # beyond what float32 counts
        assert_count(candidate.mha_flops, complexity.mha_flops(*sizes), *sizes)
    counted(candidate, draw, "mha_flops")


@check(
    "mha_parameters: as in a real layer, with and without biases",
    category="values",
    points=3,
    question="mha_parameters",
)
def test_mha_parameters(candidate, draw):
    for d in (1, 6, 20, 512, 9002, draw.integer(3, 99), draw.integer(100, 9999)):
        with torch.device("meta"):  # shapes without memory
            layer = masked_mha.MultiHeadAttention(d, 1)
        sizes = [p.numel() for p in layer.parameters()]
        weights = sum(p.numel() for p in layer.parameters() if p.dim() == 2)

        assert_count(candidate.mha_parameters, sum(sizes), d, True)
        assert_count(candidate.mha_parameters, weights, d, False)


@check(
    "kv_cache_bytes: as many as real cache tensors take",
    category="values",
    points=3,
    question="kv_cache_bytes",
)
def test_kv_cache_bytes(candidate, draw):
    sizes = (
        (1, 7, 1, 1, 5),
        (2, 5, 3, 4, 8),
        (3, 11, 2, 2, 16),
        (3, 999, 31, 7, 65),
        (4, 8191, 33, 8, 128),
    )
    for B, n, N, G, D in sizes:  # float32 does not count the fourth; the last fills over 4 GiB
        for dtype in (torch.float32, torch.bfloat16, torch.int8):
            caches = [torch.empty(2, B, G, n, D, dtype=dtype, device="meta") for _ in range(N)]
            taken = sum(cache.untyped_storage().nbytes() for cache in caches)

            assert_count(candidate.kv_cache_bytes, taken, B, n, N, G, D, dtype.itemsize)
    counted(candidate, draw, "kv_cache_bytes")


@check(
    "decode_step_flops: as counted in a running step",
    category="values",
    points=4,
    question="decode_step_flops",
)
def test_decode_step_flops(candidate, draw):
    for B, T, d, h in ((1, 9, 4, 2), (2, 6, 12, 3), (3, 30, 20, 5), (1, 1, 6, 6)):
        layer = kv_cache_step.CachedSelfAttention(d, h)
        with torch.no_grad():
            _, cache = layer(torch.zeros(B, T, d))
            with watching() as seen:
                layer(torch.zeros(B, 1, d), cache)

        assert_count(candidate.decode_step_flops, seen.flops, B, T, d, h)
    for sizes in ((3, 10_001, 4_097, 1), (2, 131_073, 8_190, 65)):  # beyond what float32 counts
        count = complexity.decode_step_flops(*sizes)
        assert_count(candidate.decode_step_flops, count, *sizes)
    counted(candidate, draw, "decode_step_flops")
