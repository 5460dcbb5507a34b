"""Beam search over language models that the judge hands in: n-gram tables of logits."""

# V size of the vocabulary  a table (V, V, V) has logits for each pair of last tokens

import torch
from reference.beam_search import beam_search
from torch import Tensor

from mha_judge.grading import (
    assert_close,
    assert_rejected,
    check,
    fail,
)
from mha_judge.wire.language_models import with_language_models

V, END = 7, 4
NEVER, RARELY, OFTEN = -30.0, -1.0, 2.0
HALVES = (torch.bfloat16, torch.float16)
NOISE = 3e-4
_search = with_language_models(beam_search, ["0"])


def _unsure(score, draw, *given):
    """Search under a model whose logits are near those of another, by themselves in each call."""

    def near(tokens):
        logits = score(tokens)
        return logits + NOISE * draw.normal(*logits.shape, dtype=torch.float64)

    return beam_search(near, *given)


_search_unsure = with_language_models(_unsure, ["0"])


def prefix_of(draw, length=3, size=V, end=END):
    """Return random token ids (length,), none of which is the end token."""
    ids = draw.permutation(max(size, length))[:length] % size
    return ids.where(ids != end, (end + 1) % size)


def lean(table, end, by):
    """Return a table in which the end token's logits are changed by a number."""
    return table.index_add(-1, torch.tensor([end]), table.new_full((*table.shape[:-1], 1), by))


def table_for(
    draw, *given, by=NEVER, end=END, shape=(V, V, V), dtype=torch.float32, spread=1.5, likely=1.0
):
    """Return a table on which rounding decides nothing: near ones give the same beams.

    Args:
        draw: What numbers are drawn from.
        given: The arguments of the search after the table.
        by: What is added to the logits of the end token.
        end: The end token.
        shape: Of the table.
        dtype: Of the table.
        spread: Standard deviation of the logits.
        likely: Share of the tokens that are not next to impossible.
    """
    for _ in range(200):
        table = spread * draw.normal(*shape)
        if likely < 1:
            table = table.where(draw.mask(*shape, keep=likely), NEVER)
        table = lean(table, end, by).to(dtype)
        if is_clear(draw, table, *given):
            return table
    raise AssertionError(f"no clear table for {given}")


def is_clear(draw, table, *given):
    """Return whether near logits give the same beams, and no score is next to nothing.

    A logit less the logarithm of a sum is off by the rounding of the logit, whatever is left. And
    two beams may take the same numbers of the table in another order, so each call has its noise.
    """
    exact = table.double()
    _, wanted, scores = _search(exact, *given)
    if float(scores.abs().max()) < 0.5:
        return False
    near = (_search_unsure(exact, draw, *given)[1] for _ in range(3))
    return all(torch.equal(one, wanted) for one in near)


def tokens_of(table, *given):
    """Return the tokens of the right beams."""
    return _search(table.double(), *given)[1]


def assert_found(answer):
    """Assert the right tokens and scores."""
    assert_close(answer, "tokens", "scores")


@check(
    "Tokens are (B, T + steps), int64, scores (B,): those of all beams", category="shape", points=2
)
def test_output_shape(candidate, draw):
    prefix = prefix_of(draw)

    answer = candidate.beam_search(table_for(draw, prefix, 2, 3, END), prefix, 2, 3, END)

    assert answer.tokens.shape == (2, 6)
    assert answer.scores.shape == (2,)


@check("One beam is greedy decoding", category="values", points=3, after="output_shape")
def test_one_beam(candidate, draw):
    for steps in (1, 4, 6):
        given = (prefix_of(draw), 1, steps, END)
        assert_found(candidate.beam_search(table_for(draw, *given), *given))


@check(
    "Of all continuations of all beams those with the greatest log-probability remain",
    category="values",
    points=5,
    after="one_beam",
)
def test_values(candidate, draw):
    for beams, steps in ((2, 3), (3, 5), (4, 4), (5, 3), (3, 6)):
        given = (prefix_of(draw), beams, steps, END)
        assert_found(candidate.beam_search(table_for(draw, *given), *given))


@check(
    "A beam that takes the end token keeps its score, and is padded with end tokens",
    category="values",
    points=5,
    after="values",
)
def test_finished(candidate, draw):
    for beams, steps in ((2, 4), (3, 4), (4, 5), (5, 4), (3, 6)):
        given = (prefix_of(draw), beams, steps, END)
        assert_found(candidate.beam_search(finishing(draw, *given), *given))


def finishing(draw, *given, **options):
    """Return a table with which some beams finish before the last step, and some do not."""
    prefix, _, steps, end = given[:4]
    for _ in range(200):
        table = table_for(draw, *given, by=0.5, end=end, **options)
        tokens = tokens_of(table, *given)
        made = tokens[:, len(prefix) :]
        ended = (made[:, :-1] == end).any(-1)
        if made.shape[1] == steps and bool(ended.any()) and not bool(ended.all()):
            return table
    raise AssertionError(f"no table that finishes for {given}")


@check(
    "A finished beam takes one of the places, and loses it to better ones",
    category="values",
    points=3,
    after="values",
)
def test_finished_competes(candidate, draw):
    for beams, alpha in ((2, 0.0), (3, 0.0), (3, 1.0), (4, 0.5)):
        prefix = prefix_of(draw)
        for _ in range(300):
            table = lean(1.5 * draw.normal(V, V, V), END, 0.5)
            clear = is_clear(draw, table, prefix, beams, 4, END, alpha)
            if clear and loses_one(table, prefix, beams, alpha):
                break
        else:
            raise AssertionError("no finished beam is pushed out")
        assert_found(candidate.beam_search(table, prefix, beams, 4, END, alpha))


def loses_one(table, prefix, beams, alpha):
    """Return whether a finished beam is pushed out in some step of four."""
    finished = set()
    for steps in (1, 2, 3, 4):
        tokens = tokens_of(table, prefix, beams, steps, END, alpha)
        rows = {tuple(row) for row in _made(tokens, prefix)}
        if finished - rows:
            return True
        finished = {row for row in rows if row[-1] == END}
    return False


def _made(tokens, prefix):
    """Yield what each beam has made, up to its first end token."""
    for row in tokens[:, len(prefix) :].tolist():
        yield row[: row.index(END) + 1] if END in row else row


@check(
    "The search stops as soon as all beams are finished, and not before",
    category="values",
    points=3,
    after="finished",
)
def test_stops(candidate, draw):
    for beams, by in ((1, OFTEN), (2, OFTEN), (3, 3.0), (4, 3.0)):
        given = (prefix_of(draw), beams, 9, END)
        for _ in range(300):
            table = lean(draw.normal(V, V, V), END, by)
            width = tokens_of(table, *given).shape[1]
            if 4 < width < 11 and is_clear(draw, table, *given):
                break
        else:
            raise AssertionError("no search stops")
        assert_found(candidate.beam_search(table, *given))


@check(
    "Scores are divided by the length penalty ((5 + length) / 6)^alpha, without the prefix",
    category="values",
    points=4,
    after="finished",
)
def test_length_penalty(candidate, draw):
    for beams, alpha, length in ((2, 0.6, 3), (3, 1.0, 1), (3, 2.0, 5), (4, 1.0, 2)):
        given = (prefix_of(draw, length), beams, 5, END, alpha)
        assert_found(candidate.beam_search(finishing(draw, *given), *given))


@check(
    "The penalty decides in every step which beams remain, not only at the end",
    category="values",
    points=2,
    after="finished",
)
def test_penalty_in_the_search(candidate, draw):
    for beams, alpha in ((2, 1.0), (3, 1.0), (3, 2.0), (2, 3.0)):
        prefix = prefix_of(draw)
        given = (prefix, beams, 5, END)
        for _ in range(300):
            table = lean(1.5 * draw.normal(V, V, V), END, 0.5)
            with_it, plain = (
                {tuple(row) for row in _made(tokens_of(table, *given, a), prefix)}
                for a in (alpha, 0.0)
            )
            if with_it != plain and is_clear(draw, table, *given, alpha):
                break
        else:
            raise AssertionError("the penalty decides nothing")
        assert_found(candidate.beam_search(table, *given, alpha))


@check(
    "score is called once for a step, with every live beam once and nothing else",
    category="cost",
    points=4,
    after="output_shape",
)
def test_calls(candidate, draw):
    for length, beams, steps, by in (
        (3, 3, 4, NEVER),
        (1, 1, 3, NEVER),
        (1000, 2, 3, NEVER),
        (3, 4, 4, 0.5),
        (3, 5, 5, 0.5),
        (3, 3, 9, 3.0),
    ):
        given = (prefix_of(draw, length), beams, steps, END)
        table = finishing(draw, *given) if by == 0.5 else table_for(draw, *given, by=by)
        answer = candidate.beam_search(table, *given)
        [(found, wanted, _)] = answer.pairs("calls")
        if isinstance(found, Tensor) and found.dim() == 2:
            both = zip(found.tolist(), wanted.exact.tolist(), strict=False)
            for number, (own, right) in enumerate(both, 1):
                if own != right:
                    fail(f"call {number} of score gets {tuple(own)} ids; {tuple(right)} is wanted")
            if len(found) != len(wanted.exact):
                fail(f"score is called {len(found)} times; {len(wanted.exact)} is wanted")
        assert_close(answer, "calls")
    table = lean(draw.normal(V, V, V), END, NEVER)  # near ties matter to no count
    assert_close(candidate.beam_search(table, prefix_of(draw), 40, 4, END), "calls")


@check(
    "Of equal scores the one from the earlier beam remains, then the one with the lower token",
    category="values",
    points=3,
    after="values",
)
def test_ties(candidate, draw):
    even = torch.zeros(V)
    for beams, steps, alpha in ((3, 1, 0.0), (3, 3, 0.0), (5, 2, 1.0), (6, 2, 0.0), (4, 4, 1.0)):
        for end in (END, 1):
            given = (prefix_of(draw, end=end), beams, steps, end, alpha)
            assert_found(candidate.beam_search(even + draw.integer(-3, 3), *given))
    wide = torch.zeros(60)
    for beams in (5, 17, 40):
        assert_found(candidate.beam_search(wide, prefix_of(draw), beams, 2, END))
    for best in (0.0, 1.0):  # of the last two tokens
        many = torch.zeros(1100)
        many[-2:] = best
        assert_found(candidate.beam_search(many, prefix_of(draw), 5, 2, END))
    for _ in range(4):  # within a row
        table = lean(draw.integers(V, V, bound=1), END, NEVER)
        assert_found(candidate.beam_search(table, prefix_of(draw), 4, 1, END))
        assert_found(candidate.beam_search(table, prefix_of(draw), 1, 5, END))
    for end in (0, 3, 6):  # of three equal ones one is finished, and the others go on for nothing
        prefix, level = prefix_of(draw, end=end), float(draw.integer(-3, 3))
        for following in (draw.permutation(V), torch.arange(V)):  # or each goes on with itself
            table = torch.full((V, V), -torch.inf).scatter(-1, following[:, None], level)
            table[prefix[-1], [0, 3, 6]] = level
            for beams in (2, 3):
                assert_found(candidate.beam_search(table, prefix, beams, 4, end))


@check(
    "More beams than continuations: as many as there are",
    category="robustness",
    points=2,
    after="finished",
)
def test_few_continuations(candidate, draw):
    for size, beams, steps in (
        (3, 5, 3),
        (2, 7, 2),
        (2, 30, 4),
        (5, 40, 2),
        (7, 8, 1),
        (3, 100, 3),
    ):
        end = draw.integer(1, size - 1)
        given = (prefix_of(draw, 2, size, end), beams, steps, end)
        table = table_for(draw, *given, by=0.0, end=end, shape=(size, size, size))
        assert_found(candidate.beam_search(table, *given))


@check(
    "Continuations whose logit is −inf are never kept, also where places are left",
    category="masking",
    points=2,
    after="few_continuations",
)
def test_minus_infinity(candidate, draw):
    for beams, steps, alpha in ((2, 4, 0.0), (4, 4, 0.0), (12, 3, 0.0), (5, 5, 1.0), (60, 3, 0.5)):
        given = (prefix_of(draw), beams, steps, END, alpha)
        for _ in range(300):
            kept = draw.mask(V, V, V, keep=0.3)
            table = draw.normal(V, V, V).masked_fill(~kept, -torch.inf)
            if is_clear(draw, table, *given):
                break
        assert_found(candidate.beam_search(table, *given))
    one = torch.full((V, V), -torch.inf).scatter(-1, draw.permutation(V)[:, None], -3.0)
    given = (prefix_of(draw), 3, 4, END)
    assert_found(candidate.beam_search(one, *given))
    start = given[0][-1]
    one[:], one[:, END], one[start] = -torch.inf, 0.0, draw.normal(V)
    one[start, start] = -torch.inf  # so that all six beams finish, though there may be nine
    assert_found(candidate.beam_search(one, given[0], 9, 4, END))
    table = torch.full((13, 13), -torch.inf)
    for last, following in ((0, [1, 11]), (1, [2, 12]), (11, [1, 2])):
        table[last, following] = draw.normal(2)
    # 1 12 and 11 2 are two, though written without a space they are one
    assert_found(candidate.beam_search(table, torch.tensor([0]), 5, 2, END))


@check(
    "End tokens in the prefix finish nothing",
    category="robustness",
    points=1,
    after="finished",
)
def test_end_in_the_prefix(candidate, draw):
    for prefix in ([END], [2, END], [END, 3, 0], [END, END]):
        for alpha in (0.0, 1.5):
            given = (torch.tensor(prefix), 3, 3, END, alpha)
            assert_found(candidate.beam_search(finishing(draw, *given), *given))


@check(
    "Any sizes: prefixes of one token and of many, one step and thirty, V of two and of thousands",
    category="shape",
    points=2,
    after="few_continuations",
)
def test_any_sizes(candidate, draw):
    for length, beams, steps, by, alpha in (
        (1, 3, 3, 0.5, 0.0),
        (3, 3, 1, 0.5, 0.0),
        (2, 2, 30, NEVER, 0.0),
        (2, 1, 140, NEVER, 1.0),
    ):
        given = (prefix_of(draw, length), beams, steps, END, alpha)
        assert_found(candidate.beam_search(table_for(draw, *given, by=by), *given))
    given = (prefix_of(draw, 1000), 3, 4, END)
    shape = (*[2] * 9, V)  # which looks at nine tokens
    assert_found(candidate.beam_search(table_for(draw, *given, by=0.5, shape=shape), *given))
    for size in (2, 3, 5, 2000):
        end = draw.integer(0, size - 1)
        for beams in (1, 2, 5):
            given = (prefix_of(draw, 2, size, end), beams, 3, end, 1.0)
            shape = (min(size, 5), min(size, 5), size)
            # a sum over thousands, one after the other, is right too, so few of them add to it
            of_many = {"spread": 3.0, "likely": 0.005} if size > 5 else {}
            table = table_for(draw, *given, by=0.0, end=end, shape=shape, **of_many)
            answer = candidate.beam_search(table, *given)
            if of_many:  # each of the three steps takes the logarithm of such a sum from a logit
                answer.beside(scores=3 * float(table[table > NEVER / 2].abs().max()))
            assert_found(answer)
    for end in (0, V - 1):
        given = (prefix_of(draw, end=end), 3, 4, end, 1.0)
        assert_found(candidate.beam_search(finishing(draw, *given), *given))


@check(
    "Log-probabilities are finite where probabilities overflow or underflow",
    category="numerics",
    points=2,
    after="values",
)
def test_large_logits(candidate, draw):
    for level in (0.0, 300.0, -300.0):
        for beams in (V - 2, V - 1, V):  # so many that scores are as large as the logits
            given = (prefix_of(draw), beams, 1, END)
            table = table_for(draw, *given, by=-700.0, spread=150.0)
            assert_found(candidate.beam_search(table + level, *given))
    given = (prefix_of(draw, size=2, end=0), 21, 20, 0)  # the last beam never ends, at −120,000
    table = torch.tensor([3000.0, -3000.0]).repeat(2, 1)
    assert_found(candidate.beam_search(table, *given))


@check("float64 in, float64 out", category="numerics", points=1, after="values")
def test_float64(candidate, draw):
    given = (prefix_of(draw), 3, 4, END, 0.7)
    table = table_for(draw, *given, by=0.5, dtype=torch.float64)
    assert_found(candidate.beam_search(table, *given))


@check(
    "Logits of half precision: computed in float32, and scores are float32",
    category="numerics",
    points=2,
    after="values",
)
def test_half_precision(candidate, draw):
    for dtype in HALVES:
        for beams in (1, 3):
            given = (prefix_of(draw), beams, 5, END, 0.6)
            assert_found(candidate.beam_search(table_for(draw, *given, dtype=dtype), *given))


@check(
    "Less than one beam or step raises, and a negative alpha",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_bad_arguments(candidate, draw):
    table, prefix = draw.normal(V, V), prefix_of(draw)
    for beams in (0, -1):
        assert_rejected(
            candidate.beam_search, table, prefix, beams, 3, END, 0.0, why=f"{beams} beams"
        )
    for steps in (0, -1):
        assert_rejected(
            candidate.beam_search, table, prefix, 2, steps, END, 0.0, why=f"{steps} steps"
        )
    for alpha in (-0.5, -1.0):
        assert_rejected(
            candidate.beam_search, table, prefix, 2, 3, END, alpha, why=f"alpha of {alpha}"
        )
