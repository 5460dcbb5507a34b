"""A token from logits: temperature, top-k, top-p and min-p, then inversion of cumulative sums."""

# V size of the vocabulary  R rows

import itertools

import torch

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_inputs_unchanged,
    assert_rejected,
    check,
    fail,
)

R, V = 5, 11
HALVES = (torch.bfloat16, torch.float16)


def apart(edges, low, high):
    """Return the number from low to high that is farthest from all edges.

    A filter decides by a comparison with these. However a right answer adds up, it is far from
    rounding to the other side.
    """
    within = edges.double().flatten()
    ends = torch.tensor([low, high], dtype=torch.float64)
    within = torch.cat([ends, within[(within > low) & (within < high)]]).sort().values
    widest = int(within.diff().argmax())
    return float(within[widest : widest + 2].mean())


def sums(logits, temperature=1.0, top_k=None):
    """Return what the most probable tokens hold together, after top-k: the edges of top-p."""
    ordered = logits.double().sort(-1, descending=True).values[..., :top_k] / temperature
    return ordered.softmax(-1).cumsum(-1)


def shares_of_greatest(logits, temperature=1.0):
    """Return the edges of min-p."""
    return ((logits.double() - logits.double().amax(-1, keepdim=True)) / temperature).exp()


def in_random_order(draw, count, rows):
    """Return the numbers below `count`, in another order in each row, as float32."""
    return torch.stack([draw.permutation(count) for _ in range(rows)]).float()


def assert_filtered(answer):
    """Assert right probabilities, and that just the right tokens have any."""
    assert_close(answer, "output")
    more = (answer.output != 0) & (answer.expected["output"].exact == 0)
    less = (answer.output == 0) & (answer.expected["output"].exact != 0)
    if bool((more | less).any()):
        fail("has more than 0 for a removed token" if bool(more.any()) else "removes too many")


def numbers_for(draw, probabilities):
    """Return uniform numbers, one for each row, well inside the share of some token of it."""
    exact = probabilities.double()
    rows = exact.reshape(-1, exact.shape[-1])
    ids = torch.stack([row.nonzero()[draw.permutation(int((row > 0).sum()))[0]] for row in rows])
    before = (rows.cumsum(-1) - rows).gather(-1, ids)
    inside = before + rows.gather(-1, ids) * draw.lengths(len(rows), 1, most=3) / 4
    dtype = torch.float32 if probabilities.dtype in HALVES else probabilities.dtype
    return inside.reshape(exact.shape[:-1]).to(dtype)


def distributions(draw, *shape, dtype=torch.float32):
    """Return probabilities in which some tokens have none, as filters leave them."""
    open_ = draw.mask(*shape)
    return draw.normal(*shape, dtype=dtype).masked_fill(~open_, -torch.inf).softmax(-1)


@check("Without a filter: the softmax of each row, (…, V)", category="values", points=3)
def test_softmax(candidate, draw):
    for _ in range(2):
        n = draw.sizes("R V")
        assert_filtered(candidate.filtered_probabilities(2 * draw.normal(n["R"], n["V"])))
    assert_filtered(candidate.filtered_probabilities(draw.normal(7, 7)))


@check("Logits are divided by the temperature", category="values", points=3, after="softmax")
def test_temperature(candidate, draw):
    for temperature in (0.5, 2.0, 0.7, 1.9, 0.375, 1.625):
        assert_filtered(candidate.filtered_probabilities(draw.normal(R, V), temperature))
    for temperature in (0.01, 0.03, 100.0):
        logits = temperature * draw.normal(R, V)
        assert_filtered(candidate.filtered_probabilities(logits, temperature))


@check(
    "Temperature 0 leaves the greatest logit alone, with the lowest id of equal ones",
    category="values",
    points=2,
    after="softmax",
)
def test_zero_temperature(candidate, draw):
    filtered = candidate.filtered_probabilities
    assert_filtered(filtered(draw.normal(R, V), 0.0))
    assert_filtered(filtered(draw.integers(2 * R, V, bound=1), 0.0))
    assert_filtered(filtered(draw.normal(R, V), 0.0, 3, 0.5, 0.1))
    assert_filtered(filtered(draw.integers(R, V, bound=1), 0.0, 1, 0.0, 1.0))
    assert_filtered(filtered(draw.integers(R, 40, bound=1), 0.0))  # short rows are sorted stably
    assert_filtered(filtered(draw.normal(R, V), 0.0, V + 3))


@check("top_k leaves the k greatest logits", category="values", points=4, after="softmax")
def test_top_k(candidate, draw):
    for top_k in (3, 1, 2, V - 1):
        assert_filtered(candidate.filtered_probabilities(draw.normal(R, V), 1.0, top_k))


@check("Logits equal to the k-th all stay", category="values", points=2, after="top_k")
def test_top_k_ties(candidate, draw):
    for top_k in (1, 2, 3, 5):
        logits = draw.integers(2 * R, V, bound=2)
        logits[0] = 1
        assert_filtered(candidate.filtered_probabilities(logits, 1.0, top_k))


@check("top_k of V and more removes nothing", category="robustness", points=1, after="top_k")
def test_top_k_beyond(candidate, draw):
    for top_k in (V, V + 1, 10 * V):
        assert_filtered(candidate.filtered_probabilities(draw.normal(R, V), 1.0, top_k))


@check(
    "top_p leaves the most probable tokens, up to the one that crosses it",
    category="values",
    points=5,
    after="softmax",
)
def test_top_p(candidate, draw):
    for low, high in ((0.4, 0.7), (0.2, 0.5), (0.6, 0.9), (0.8, 0.98)):
        logits = 1.5 * draw.normal(R, V)
        top_p = apart(sums(logits), low, high)
        assert_filtered(candidate.filtered_probabilities(logits, 1.0, None, top_p))


@check(
    "top_p leaves one token where that holds enough, and all where all are needed",
    category="values",
    points=2,
    after="top_p",
)
def test_top_p_ends(candidate, draw):
    logits = draw.normal(R, V)
    best = draw.permutation(V)[:R]
    peaked = logits.scatter_add(-1, best[:, None], torch.full((R, 1), 9.0))
    for given, top_p in ((peaked, 0.5), (peaked, 0.01), (logits, 0.0), (logits, 1.0)):
        assert_filtered(candidate.filtered_probabilities(given, 1.0, None, top_p))


@check(
    "min_p is a share of the greatest probability",
    category="values",
    points=4,
    after="softmax",
)
def test_min_p(candidate, draw):
    for low, high in ((0.05, 0.2), (0.1, 0.5), (0.5, 0.9), (0.01, 0.05)):
        logits = 1.5 * draw.normal(R, V)
        min_p = apart(shares_of_greatest(logits), low, high)
        assert_filtered(candidate.filtered_probabilities(logits, 1.0, None, None, min_p))


@check(
    "min_p of 0 removes nothing, and of 1 all but the greatest, of which several may be equal",
    category="values",
    points=1,
    after="min_p",
)
def test_min_p_ends(candidate, draw):
    for logits in (draw.normal(R, V), draw.integers(R, V, bound=1)):
        for min_p in (0.0, 1.0):
            assert_filtered(candidate.filtered_probabilities(logits, 1.0, None, None, min_p))


@check(
    "The temperature comes first: filters see the probabilities that it gives",
    category="values",
    points=2,
    after=("temperature", "top_p", "min_p"),
)
def test_temperature_first(candidate, draw):
    for temperature in (0.5, 2.0):
        logits = 1.5 * draw.normal(2 * R, V)
        top_p = apart(sums(logits, temperature), 0.5, 0.8)
        assert_filtered(candidate.filtered_probabilities(logits, temperature, None, top_p))
        min_p = apart(shares_of_greatest(logits, temperature), 0.05, 0.5)
        assert_filtered(candidate.filtered_probabilities(logits, temperature, None, None, min_p))
        assert_filtered(candidate.filtered_probabilities(logits, temperature, 3))


@check(
    "top_p is measured on what top_k left, renormalised",
    category="values",
    points=2,
    after=("top_k", "top_p"),
)
def test_top_k_then_top_p(candidate, draw):
    for top_k, low, high in ((3, 0.6, 0.8), (4, 0.7, 0.9), (2, 0.5, 0.8), (7, 0.3, 0.6)):
        logits = draw.normal(R, V)
        top_p = apart(sums(logits, top_k=top_k), low, high)
        assert_filtered(candidate.filtered_probabilities(logits, 1.0, top_k, top_p))
    # two equal the third, so four stay, and the first has a share of 0.32
    shares = torch.tensor([0.32, 0.28, 0.2, 0.2, *[0.001] * (V - 4)])
    ties = torch.stack([shares.log()[draw.permutation(V)] for _ in range(R)])
    assert_filtered(candidate.filtered_probabilities(ties, 1.0, 3, 0.35))


@check(
    "min_p comes after top_k and top_p, with a temperature and without",
    category="values",
    points=2,
    after=("top_p", "min_p"),
)
def test_min_p_last(candidate, draw):
    for temperature, top_k in ((1.0, None), (1.0, None), (0.7, 8), (1.6, 6)):
        logits = draw.normal(2 * R, V)
        top_p = apart(sums(logits, temperature, top_k), 0.7, 0.9)
        min_p = apart(shares_of_greatest(logits, temperature), 0.2, 0.5)
        answer = candidate.filtered_probabilities(logits, temperature, top_k, top_p, min_p)
        assert_filtered(answer)


@check("Logits of −inf get exactly 0", category="masking", points=2, after="softmax")
def test_minus_infinity(candidate, draw):
    filtered = candidate.filtered_probabilities
    logits = draw.normal(R, V).masked_fill(~draw.mask(R, V), -torch.inf)
    top_p = apart(sums(logits), 0.5, 0.9)
    min_p = apart(shares_of_greatest(logits), 0.1, 0.9)
    one = torch.full((R, V), -torch.inf).scatter(-1, draw.permutation(V)[:R, None], -3.0)
    for given in (logits, one):
        for temperature in (1.0, 0.5, 0.0):
            assert_filtered(filtered(given, temperature))
        for top_k in (1, 4, V - 1, V + 1):  # more than there are finite ones
            assert_filtered(filtered(given, 1.0, top_k))
        for share in (0.0, top_p, 1.0):
            assert_filtered(filtered(given, 1.0, None, share))
        for share in (0.0, min_p, 1.0):
            assert_filtered(filtered(given, 1.0, None, None, share))
    top_p = apart(sums(logits, top_k=V - 1), 0.5, 0.9)
    assert_filtered(filtered(logits, 1.0, V - 1, top_p, min_p))


@check(
    "Logits of ±60 000 do not overflow, and no fill is above them",
    category="numerics",
    points=2,
    after="softmax",
)
def test_large_logits(candidate, draw):
    filtered = candidate.filtered_probabilities
    near = in_random_order(draw, V, R) / 2
    top_p, min_p = apart(sums(near), 0.5, 0.9), apart(shares_of_greatest(near), 0.1, 0.5)
    for level in (6e4, -6e4):
        assert_close(filtered(near + level), "output")
        for temperature in (1.0, 0.5):
            given = temperature * near + level
            assert_close(filtered(given, temperature, 3), "output")
            assert_close(filtered(given, temperature, None, top_p), "output")
            assert_close(filtered(given, temperature, None, None, min_p), "output")
    assert_close(filtered(near + 500.0 * torch.arange(R)[:, None]), "output")
    far = 2000 * in_random_order(draw, V, R) - 10_000
    for given in ((1.0,), (0.5, 3), (1.0, None, 0.5), (1.0, None, None, 0.5)):
        assert_close(filtered(far, *given), "output")


@check(
    "Each row is filtered alone, with any leading axes or none, and V from 1 to thousands",
    category="shape",
    points=2,
    after=("top_k", "top_p", "min_p"),
)
def test_any_axes(candidate, draw):
    filtered = candidate.filtered_probabilities
    for shape in ((V,), (2, 3, V), (2, 3, 5, V), (1, V), (3, 1, V), (7, 7, 7), (70, 5)):
        logits = draw.normal(*shape)
        assert_filtered(filtered(logits))
        assert_filtered(filtered(logits, 0.0))
        assert_filtered(filtered(logits, 1.0, 2))
        edges = sums(logits)
        assert_filtered(filtered(logits, 1.0, None, apart(edges, 0.5, 0.8)))
        min_p = apart(shares_of_greatest(logits), 0.2, 0.8)
        assert_filtered(filtered(logits, 1.0, None, None, min_p))
    for shape in ((1,), (3, 1)):
        for given in ((), (0.0,), (1.0, 1), (1.0, None, 0.5), (1.0, None, None, 0.5)):
            assert_filtered(filtered(draw.normal(*shape), *given))
    peaked_and_flat = draw.normal(2, 700) * torch.tensor([[9.0], [0.1]])
    top_p = apart(sums(peaked_and_flat), 0.7, 0.9)
    assert_filtered(filtered(peaked_and_flat, 1.0, None, top_p))
    flat = 0.1 * draw.normal(4_900)  # nearly all tokens are needed
    assert_filtered(filtered(flat, 1.0, None, apart(sums(flat), 0.94, 0.97)))
    size = draw.integer(4990, 5000)
    logits = in_random_order(draw, size, 1) / (size / 4)
    top_p, min_p = apart(sums(logits), 0.3, 0.6), apart(shares_of_greatest(logits), 0.3, 0.6)
    assert_filtered(filtered(logits, 1.0, draw.integer(300, 3000)))
    assert_filtered(filtered(logits, 1.0, None, top_p))
    assert_filtered(filtered(logits, 1.0, None, None, min_p))


@check("float64 in, float64 out", category="numerics", points=1, after=("top_p", "min_p"))
def test_float64(candidate, draw):
    filtered = candidate.filtered_probabilities
    logits = draw.normal(R, V, dtype=torch.float64)
    assert_filtered(filtered(logits, 0.7, 5))
    assert_filtered(filtered(logits, 0.0))
    near = 1 + 1e-9 * in_random_order(draw, V, R).double()  # which float32 cannot tell apart
    for given in ((0.0,), (1.0, 3), (1.0, None, None, 1.0)):
        assert_filtered(filtered(near, *given))
    assert_filtered(filtered(logits, 1.0, None, apart(sums(logits), 0.5, 0.9)))
    assert_filtered(filtered(logits, 1.0, None, None, apart(shares_of_greatest(logits), 0.1, 0.5)))


@check(
    "Half precision in and out; what is decided is decided in float32",
    category="numerics",
    points=3,
    after=("top_k", "top_p", "min_p"),
)
def test_half_precision(candidate, draw):
    filtered = candidate.filtered_probabilities
    # as many numbers from −1 to 1 as float16 tells apart, and then bfloat16
    many = in_random_order(draw, 4096, 1) / 2048 - 1
    for low, high in ((0.3, 0.6), (0.6, 0.9)):
        assert_filtered(filtered(many.half(), 1.0, None, apart(sums(many), low, high)))
    for dtype in HALVES:
        logits = in_random_order(draw, 512, 2) / 256 - 1
        for low, high in ((0.3, 0.6), (0.6, 0.9)):
            for temperature in (1.0, 0.7):
                top_p = apart(sums(logits, temperature), low, high)
                assert_filtered(filtered(logits.to(dtype), temperature, None, top_p))
        for top_k in (58, 75, 171):
            assert_filtered(filtered(logits.to(dtype), 0.7, top_k))
        for low in (0.3, 0.5, 0.6, 0.7, 0.9):
            min_p = apart(shares_of_greatest(logits), low, low + 0.05)
            assert_filtered(filtered(logits.to(dtype), 1.0, None, None, min_p))
        assert_filtered(filtered(logits.to(dtype), 0.0))
        ties = draw.integers(2 * R, V, bound=2).to(dtype)
        for top_k in (1, 2, 3):
            assert_filtered(filtered(ties, 1.0, top_k))
    # 60 000 / 0.5 is more than float16 holds
    large = 60_000 - 4000 * in_random_order(draw, V, R)
    for temperature in (0.5, 0.01):
        assert_close(filtered(large.half(), temperature), "output")


@check("Gradients reach the logits, and are right", category="gradients", points=3, after="softmax")
def test_gradients(candidate, draw):
    logits = draw.normal(R, V)
    top_p, min_p = apart(sums(logits), 0.5, 0.9), apart(shares_of_greatest(logits), 0.1, 0.5)
    both = apart(shares_of_greatest(logits), 0.02, 0.2)
    for given in (
        (0.7,),
        (2.5,),
        (1.0, 4),
        (1.0, None, top_p),
        (1.0, None, None, min_p),
        (1.0, 4, None, both),
        (1.0, None, top_p, both),
    ):
        for dtype in (torch.float32, torch.float64):
            assert_gradients_match(
                candidate.filtered_probabilities,
                logits.to(dtype),
                *given,
                wrt=(0,),
                cotangents=[draw.normal(R, V, dtype=dtype)],
            )
    unlikely = logits - 900 * (torch.arange(V) % 3 == 1)  # probabilities that are 0 in any dtype
    for dtype, given in itertools.product(
        (torch.float32, torch.float64), ((0.7,), (1.0, None, None, 0.0))
    ):
        assert_gradients_match(
            candidate.filtered_probabilities,
            unlikely.to(dtype),
            *given,
            wrt=(0,),
            cotangents=[draw.normal(R, V, dtype=dtype)],
        )


@check(
    "An argument that is out of its range raises",
    category="robustness",
    points=2,
    after="softmax",
)
def test_bad_arguments(candidate, draw):
    filtered = candidate.filtered_probabilities
    for size in (V, 1):
        logits = draw.normal(R, size)
        for temperature in (-0.5, -0.004):
            assert_rejected(filtered, logits, temperature, why="a negative temperature")
        for top_k in (0, -1):
            assert_rejected(filtered, logits, 1.0, top_k, why=f"top_k of {top_k}")
        for share in (-0.1, 1.1):
            assert_rejected(filtered, logits, 1.0, None, share, why=f"top_p of {share}")
            assert_rejected(filtered, logits, 1.0, None, None, share, why=f"min_p of {share}")
            assert_rejected(filtered, logits, 1.0, None, 0.5, share, why=f"min_p of {share}")
        for given in ((0,), (None, 1.1), (None, None, -0.1)):  # which change nothing there
            why = "top_k, top_p or min_p out of its range beside a temperature of 0"
            assert_rejected(filtered, logits, 0.0, *given, why=why)


@check("Both functions leave inputs as they were", category="robustness", points=2, after="softmax")
def test_inputs_unchanged(candidate, draw):
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        for given in (
            (),
            (0.7,),
            (0.0,),
            (1.0, 4),
            (1.0, None, 0.6),
            (1.0, None, None, 0.2),
            (0.7, 5, 0.8, 0.1),
        ):
            logits = draw.normal(R, V, dtype=dtype)
            assert_inputs_unchanged(candidate.filtered_probabilities, logits, *given)
        probabilities = distributions(draw, R, V, dtype=dtype)
        assert_inputs_unchanged(candidate.sample, probabilities, numbers_for(draw, probabilities))


@check("sample returns token ids (…), int64", category="shape", points=2)
def test_sample_shape(candidate, draw):
    probabilities = draw.normal(2, R, V).softmax(-1)

    answer = candidate.sample(probabilities, numbers_for(draw, probabilities))

    assert answer.output.shape == (2, R)


@check(
    "sample gives the first token whose cumulative probability exceeds the number",
    category="values",
    points=5,
    after="sample_shape",
)
def test_sample_values(candidate, draw):
    for _ in range(4):
        probabilities = distributions(draw, 3 * R, V)
        answer = candidate.sample(probabilities, numbers_for(draw, probabilities))
        assert_close(answer, "output")


@check(
    "Where the number is 0, or just a cumulative probability, it is the next token with any",
    category="values",
    points=2,
    after="sample_values",
)
def test_sample_exact(candidate, draw):
    numbers = torch.tensor([0, 0.25, 0.5, 0.75, 0.125, 0.625])
    shares = torch.tensor([0.25, 0.25, 0.5, 0, 0, 0])  # sums of quarters are exact
    for dtype in (torch.float32, torch.float64):
        for _ in range(4):
            probabilities = shares[draw.permutation(6)].expand(6, 6).to(dtype).contiguous()
            assert_close(candidate.sample(probabilities, numbers.to(dtype)), "output")
        long = torch.full((16, 1024), 2.0**-10, dtype=dtype)  # beyond blocks of tokens
        assert_close(candidate.sample(long, torch.arange(16, dtype=dtype) / 16), "output")
        first = torch.tensor([[0, 0, 1.0], [0, 1.0, 0], [1.0, 0, 0]], dtype=dtype)
        assert_close(candidate.sample(first, torch.zeros(3, dtype=dtype)), "output")


@check(
    "Rounding leads neither past the end nor to a token of probability 0",
    category="numerics",
    points=2,
    after="sample_values",
)
def test_sample_rounding(candidate, draw):
    for dtype in (torch.float32, torch.float64):
        greatest = torch.full((4 * R,), 1 - 2.0**-24, dtype=dtype)  # that float32 holds below 1
        for lost in (2e-6, 0.0, 0.0):
            probabilities = distributions(draw, 4 * R, V, dtype=dtype) * (1 - lost)
            assert_close(candidate.sample(probabilities, greatest), "output")
        whole = draw.normal(4 * R, V, dtype=dtype).softmax(-1) * (1 - 2e-6)
        assert_close(candidate.sample(whole, greatest), "output")
        mixed = numbers_for(draw, whole)  # each row is treated alone
        mixed[::2] = greatest[::2]
        assert_close(candidate.sample(whole, mixed), "output")
        single = torch.eye(4 * R, dtype=dtype) * (1 - 2e-6)
        assert_close(candidate.sample(single, greatest), "output")


@check(
    "sample takes any leading axes, a single row with a single number, and thousands of tokens",
    category="shape",
    points=1,
    after="sample_values",
)
def test_sample_any_axes(candidate, draw):
    for shape in ((V,), (2, 3, V), (2, 3, 5, V), (1, V), (3, 1, V), (7, 7, 7), (70, 5), (3, 1)):
        probabilities = distributions(draw, *shape) if shape[-1] > 1 else torch.ones(shape)
        answer = candidate.sample(probabilities, numbers_for(draw, probabilities))
        assert_close(answer, "output")
    many = (draw.normal(8, draw.integer(1990, 2000)) / 4).softmax(-1)
    assert_close(candidate.sample(many, numbers_for(draw, many)), "output")


@check(
    "float64, and half precision: sums of it are formed in float32",
    category="numerics",
    points=2,
    after="sample_values",
)
def test_sample_precision(candidate, draw):
    probabilities = distributions(draw, 3 * R, V, dtype=torch.float64)
    assert_close(candidate.sample(probabilities, numbers_for(draw, probabilities)), "output")
    quarters = torch.tensor([0.25, 0.25, 0.5], dtype=torch.float64).expand(2, 3)
    below = torch.tensor([0.25, 0.5], dtype=torch.float64) - 2.0**-40
    assert_close(candidate.sample(quarters, below), "output")
    for dtype, size in ((torch.bfloat16, 1024), (torch.float16, 4096)):
        even = torch.full((16, size), 1 / size, dtype=dtype)  # whose sums float32 holds exactly
        assert_close(candidate.sample(even, numbers_for(draw, even)), "output")


@check(
    "Uniform numbers of another shape raise",
    category="robustness",
    points=1,
    after="sample_shape",
)
def test_sample_bad_shapes(candidate, draw):
    for probabilities, numbers in (
        ((5, V), (4,)),
        ((5, V), (5, 1)),
        ((5, V), (1,)),
        ((5, V), ()),
        ((V,), (1,)),
        ((5, V), (5, V)),
        ((2, 3, V), (3, 2)),
        ((2, 3, V), (3,)),
        ((2, 3, V), (6,)),
    ):
        shares = draw.normal(*probabilities).softmax(-1)
        given = torch.full(numbers, 0.5)
        assert_rejected(
            candidate.sample,
            shares,
            given,
            why=f"numbers of shape {numbers} for probabilities of shape {probabilities}",
        )
