"""A paged key/value cache: one pool, pages handed out and taken back, nothing lost or shared."""

# H heads  D head size  P page size  T cached positions of a sequence

from contextlib import suppress

from mha_judge.grading import (
    assert_close,
    assert_grows_at_most,
    assert_inputs_unchanged,
    assert_rejected,
    check,
    fail,
)
from mha_judge.grading.failures import CheckFailure

H, D = 3, 5


def cache_of(candidate, num_pages=7, page_size=4, num_heads=H, head_dim=D):
    return candidate.PagedKVCache(
        num_pages=num_pages, page_size=page_size, num_heads=num_heads, head_dim=head_dim
    )


def kv(draw, tokens, heads=H, dim=D):
    return draw.normal(heads, tokens, dim), draw.normal(heads, tokens, dim)


def see_what_is_kept(cache, sequence, more):
    """Append more than fits: where that is taken, what is kept of it tells mistakes apart."""
    with suppress(CheckFailure):
        cache.append.attempt(sequence, *more)
        cache.gather.attempt(sequence)


def assert_holds(cache, *sequences):
    for sequence in sequences:
        assert_close(cache.gather(sequence), "k", "v")


@check(
    "Is made with (num_pages, page_size, num_heads, head_dim); an append is taken",
    category="shape",
    points=2,
)
def test_append(candidate, draw):
    cache_of(candidate).append(1, *kv(draw, 3))


@check(
    "gather returns (k, v), (H, T, D) each: T positions, not whole pages",
    category="shape",
    points=3,
    after="append",
)
def test_gather_shape(candidate, draw):
    cache = cache_of(candidate)
    cache.append(1, *kv(draw, 6))

    answer = cache.gather(1)

    assert answer.k.shape == (H, 6, D)
    assert answer.v.shape == (H, 6, D)


@check(
    "What was appended comes back, keys as keys and values as values",
    category="values",
    points=4,
    after="gather_shape",
)
def test_one_append(candidate, draw):
    for tokens in (1, 3, 4, 5, 11):
        cache = cache_of(candidate)
        cache.append(1, *kv(draw, tokens))
        assert_holds(cache, 1)


@check("gather changes nothing", category="robustness", points=1, after="one_append")
def test_gather_changes_nothing(candidate, draw):
    cache = cache_of(candidate, num_pages=3)
    cache.append(1, *kv(draw, 5))
    for _ in range(3):
        assert_holds(cache, 1)


@check(
    "Appends continue where the last one ended, also in the middle of a page",
    category="values",
    points=4,
    after="gather_changes_nothing",
)
def test_several_appends(candidate, draw):
    cache = cache_of(candidate, num_pages=13)
    for tokens in (3, 1, 1, 2, 5, 1, 4, 9, 1, 7):
        cache.append(1, *kv(draw, tokens))
        assert_holds(cache, 1)


@check(
    "Sequences that grow in turn do not touch one another",
    category="values",
    points=4,
    after="one_append",
)
def test_several_sequences(candidate, draw):
    cache = cache_of(candidate, num_pages=17, page_size=3)
    for tokens in (2, 3, 1, 4):
        for sequence in (1, 2, 3):
            cache.append(sequence, *kv(draw, tokens))
        assert_holds(cache, 1, 2, 3)


@check(
    "The names of sequences may be numbers or texts, in any order",
    category="values",
    points=1,
    after="one_append",
)
def test_names(candidate, draw):
    cache = cache_of(candidate, num_pages=11)
    for sequence in (7, 0, "x", 100, "7"):  # 7 and "7" are two names
        cache.append(sequence, *kv(draw, 5))
    assert_holds(cache, 7, 0, "x", 100, "7")
    cache.free(0)
    for sequence in (-1, -2, ""):  # of −1 and −2 Python makes one hash
        cache.append(sequence, *kv(draw, 2))
    assert_holds(cache, 7, "x", -1, -2, "")
    for sequence in ("", -2, 7, "x"):
        cache.free(sequence)
    alike = cache_of(candidate, num_pages=11)
    for sequence in ("x", "X", "x ", " x"):
        alike.append(sequence, *kv(draw, 3))
    assert_holds(alike, "x", "X", "x ", " x")
    large = (2**32 + 7, 7, 2**61 + 6, "-1")  # 7 in 32 bits, and in Python's hash
    for sequence in large:
        cache.append(sequence, *kv(draw, 3))
    assert_holds(cache, *large, -1, "7")
    glued = cache_of(candidate, num_pages=29, page_size=1)  # page 10 of 1 is no page 0 of 11
    for sequence, tokens in ((1, 13), (11, 3), ("1", 2), ("11", 2)):
        glued.append(sequence, *kv(draw, tokens))
    assert_holds(glued, 1, 11, "1", "11")


@check("Pages of size 1, one head, head size 1", category="shape", points=1, after="one_append")
def test_size_one(candidate, draw):
    for sizes in ((11, 1, H, D), (5, 3, 1, D), (5, 3, H, 1), (1, 3, H, D), (11, 1, 1, 1)):
        cache = cache_of(candidate, *sizes)
        held = sizes[0] * sizes[1]
        for tokens in (held // 2 + 1, held - held // 2 - 1):  # all that it holds
            cache.append(1, *kv(draw, tokens, *sizes[2:]))
        assert_holds(cache, 1)


@check(
    "A page that is not full takes the next positions: N pages hold N · P",
    category="values",
    points=3,
    after="one_append",
)
def test_pages_are_filled(candidate, draw):
    cache = cache_of(candidate, num_pages=2, page_size=4)
    for _ in range(8):
        cache.append(1, *kv(draw, 1))
    assert_holds(cache, 1)
    other = cache_of(candidate, num_pages=3, page_size=4)
    other.append(1, *kv(draw, 5))
    other.append(2, *kv(draw, 4))
    other.append(1, *kv(draw, 3))
    assert_holds(other, 1, 2)
    pages = cache_of(candidate, 300, 1, 1, 1)  # more than a byte counts
    for sequence, tokens in ((1, 140), (2, 160)):
        pages.append(sequence, *kv(draw, tokens, 1, 1))
    assert_holds(pages, 1, 2)
    slots = cache_of(candidate, 5, 8192, 1, 1)  # more in all than two bytes count
    for sequence in range(5):
        slots.append(sequence, *kv(draw, 2, 1, 1))
    assert_holds(slots, *range(5))


@check(
    "A full pool raises",
    category="robustness",
    points=3,
    after="one_append",
)
def test_full_pool_raises(candidate, draw):
    cache = cache_of(candidate, num_pages=2, page_size=4)
    cache.append(1, *kv(draw, 8))
    see_what_is_kept(cache, 1, kv(draw, 3))
    cache = cache_of(candidate, num_pages=2, page_size=4)
    cache.append(1, *kv(draw, 8))
    assert_rejected(cache.append, 1, *kv(draw, 1), why="a position more than the pool holds")
    assert_rejected(cache.append, 2, *kv(draw, 1), why="a sequence for which no page is left")
    larger = cache_of(candidate, num_pages=2, page_size=4)
    assert_rejected(larger.append, 1, *kv(draw, 9), why="more positions than the pool holds")


@check(
    "An append that does not fit changes nothing: no position, no page is lost",
    category="robustness",
    points=4,
    after="full_pool_raises",
)
def test_full_pool_loses_nothing(candidate, draw):
    cache = cache_of(candidate, num_pages=5, page_size=3)
    cache.append(1, *kv(draw, 4))
    cache.append(2, *kv(draw, 3))
    for tokens in (9, 10, 30):
        assert_rejected(cache.append, 1, *kv(draw, tokens), why="more than what is free")
        assert_holds(cache, 1, 2)
    for tokens in (7, 30):
        assert_rejected(cache.append, 3, *kv(draw, tokens), why="more than what is free")
        assert_holds(cache, 1, 2)
    cache.append(1, *kv(draw, 5))
    cache.append(2, *kv(draw, 3))
    assert_holds(cache, 1, 2)


@check(
    "Freed pages serve again, in whatever order",
    category="values",
    points=4,
    after="several_sequences",
)
def test_pages_are_reused(candidate, draw):
    cache = cache_of(candidate, num_pages=5, page_size=2)
    cache.append(1, *(one.fill_(float("inf")) for one in kv(draw, 3)))  # 0 times that is not 0
    cache.append(2, *kv(draw, 4))
    cache.free(1)
    cache.append(3, *kv(draw, 6))
    assert_holds(cache, 2, 3)
    cache.free(2)
    cache.append(4, *kv(draw, 3))
    assert_holds(cache, 3, 4)
    for _ in range(4):  # what leaks at each turn runs out
        cache.free(4)
        cache.append(4, *kv(draw, 4))
        assert_holds(cache, 3, 4)
    cache.free(3)
    cache.free(4)
    for _ in range(3):  # one sequence may have them all
        cache.append(5, *kv(draw, 10))
        assert_holds(cache, 5)
        cache.free(5)


@check(
    "A name that was freed begins anew",
    category="values",
    points=2,
    after="several_appends",
)
def test_name_begins_anew(candidate, draw):
    cache = cache_of(candidate)
    cache.append(1, *kv(draw, 7))
    for _ in range(2):  # as long as before, with other numbers
        cache.free(1)
        cache.append(1, *kv(draw, 2))
        assert_holds(cache, 1)
        cache.gather(1, keep=True)  # whoever still has it keeps it


@check(
    "Freeing one sequence leaves the others as they are, also when its pages go to a third",
    category="values",
    points=2,
    after="several_sequences",
)
def test_no_page_has_two_owners(candidate, draw):
    cache = cache_of(candidate, num_pages=6, page_size=2)
    for sequence in (1, 2, 3):
        cache.append(sequence, *kv(draw, 4))
    cache.free(2)
    assert_holds(cache, 1, 3)
    cache.append(1, *kv(draw, 2))
    cache.append(4, *kv(draw, 2))
    assert_holds(cache, 1, 3, 4)
    assert_rejected(cache.append, 4, *kv(draw, 2), why="more than what is free")
    assert_holds(cache, 1, 3, 4)


@check(
    "Any number of steps in any order: appends, frees, what does not fit",
    category="values",
    points=2,
    after=("no_page_has_two_owners", "full_pool_loses_nothing"),
)
def test_any_order(candidate, draw):
    cache = cache_of(candidate, 4, 1, 1, 2)
    for sequence in range(4):
        cache.append(sequence, *kv(draw, 1, 1, 2))
    for sequence in (0, 2, 1, 3):  # two neighbours change places, whichever is handed out first
        cache.free(sequence)
    cache.append("all", *kv(draw, 4, 1, 2))
    assert_holds(cache, "all")
    cache = cache_of(candidate, 4, 2, 1, 2)
    for sequence, tokens in ((1, 2), (2, 1), (1, 1)):
        cache.append(sequence, *kv(draw, tokens, 1, 2))
    cache.free(2)
    cache.append(1, *kv(draw, 5, 1, 2))  # the page of 2 comes behind a higher one
    assert_holds(cache, 1)
    cache = cache_of(candidate, 6, 2, 1, 2)
    for sequence, tokens in (("a", 5), ("b", 4)):
        cache.append(sequence, *kv(draw, tokens, 1, 2))
    found = cache.gather("a", keep=True)
    cache.free("a")
    cache.append("c", found.live("k"), found.live("v"))  # into its own pages, in some order
    assert_holds(cache, "b", "c")
    for num_pages, page_size in ((6, 3), (5, 1)):
        _take_steps(candidate, draw, num_pages, page_size)


def _take_steps(candidate, draw, num_pages, page_size):
    cache = cache_of(candidate, num_pages, page_size, 1, 2)
    held = {}

    def pages_of(length):
        return -(-length // page_size)

    for _ in range(36):
        sequence, tokens = draw.integer(1, 4), draw.integer(1, 2 * page_size + 1)
        length = held.get(sequence, 0)
        free = num_pages - sum(map(pages_of, held.values()))
        if draw.integer(1, 4) == 1 and length:
            assert_holds(cache, sequence)
            cache.free(sequence)
            del held[sequence]
        elif pages_of(length + tokens) - pages_of(length) <= free:
            cache.append(sequence, *kv(draw, tokens, 1, 2))
            held[sequence] = length + tokens
        elif length:
            too_much = kv(draw, tokens, 1, 2)
            assert_rejected(cache.append, sequence, *too_much, why="more than what is free")
        if sequence in held:
            assert_holds(cache, sequence)
    assert_holds(cache, *held)


@check(
    "A sequence that is not known, or was freed, raises in gather and in free",
    category="robustness",
    points=3,
    after="one_append",
)
def test_unknown_sequence(candidate, draw):
    cache = cache_of(candidate)
    cache.append(1, *kv(draw, 3))
    for sequence in (2, "", "1"):
        assert_rejected(cache.gather, sequence, why="gather of a sequence that never was")
        assert_rejected(cache.free, sequence, why="free of a sequence that never was")
    assert_holds(cache, 1)
    cache.free(1)
    assert_rejected(cache.gather, 1, why="gather of a sequence that was freed")
    assert_rejected(cache.free, 1, why="free of a sequence that was freed")


@check(
    "Keys or values of another shape raise, and nothing is broadcast",
    category="robustness",
    points=2,
    after="one_append",
)
def test_bad_shapes(candidate, draw):
    cache = cache_of(candidate)
    cache.append(1, *kv(draw, 3))
    assert_rejected(cache.append, 1, *kv(draw, 2, heads=1), why="one head in a cache of three")
    assert_rejected(cache.append, 1, *kv(draw, 2, dim=1), why="a head size of 1 in one of 5")
    assert_rejected(cache.append, 1, *kv(draw, 2, heads=H + 1), why="four heads in three")
    two, one = kv(draw, 2)[0], kv(draw, 1)[1]
    assert_rejected(cache.append, 1, two, one, why="two keys with one value")
    assert_rejected(cache.append, 1, one, two, why="one key with two values")
    k, v = kv(draw, 2)
    for why, other in {
        "an axis for items": (k[None], v[None]),
        "two axes of tokens": (k[:, None], v[:, None]),
        "tokens before heads": (k.transpose(0, 1), v.transpose(0, 1)),
        "heads joined": (k.transpose(0, 1).flatten(1), v.transpose(0, 1).flatten(1)),
    }.items():
        assert_rejected(cache.append, 1, *other, why=f"keys and values with {why}")
    for sizes in ({"heads": 1}, {"heads": H + 1}, {"heads": H - 1}, {"dim": 1}, {"dim": D - 1}):
        other = kv(draw, 2, **sizes)[0]
        for sequence in (1, 2):  # one that is there, and one that would begin
            assert_rejected(cache.append, sequence, two, other, why=f"values with {sizes}")
            assert_rejected(cache.append, sequence, other, two, why=f"keys with {sizes}")
    assert_holds(cache, 1)
    cache.append(1, *kv(draw, 25))  # no page was lost: seven hold 28 positions
    assert_holds(cache, 1)


@check("The inputs are left as they were", category="robustness", points=1, after="one_append")
def test_inputs_unchanged(candidate, draw):
    cache = cache_of(candidate)
    assert_inputs_unchanged(cache.append, 1, *kv(draw, 6))


@check(
    "Strided keys and values, as transposing makes them, are taken as they are",
    category="robustness",
    points=1,
    after="one_append",
)
def test_non_contiguous(candidate, draw):
    cache = cache_of(candidate)
    k = draw.normal(6, H, D).transpose(0, 1)
    v = draw.normal(H, D, 6).transpose(1, 2)
    cache.append(1, k, v)
    assert_holds(cache, 1)


@check(
    "Two caches know nothing of one another",
    category="robustness",
    points=1,
    after="one_append",
)
def test_two_caches(candidate, draw):
    one, other = cache_of(candidate), cache_of(candidate)
    one.append(1, *kv(draw, 6))
    other.append(1, *kv(draw, 3))
    assert_holds(one, 1)
    assert_holds(other, 1)
    for cache, tokens in ((one, 22), (other, 25)):  # each has all its pages
        cache.append(1, *kv(draw, tokens))
    assert_holds(one, 1)
    assert_holds(other, 1)


@check(
    "An append writes as much, however long the sequence and however large the pool",
    category="cost",
    points=3,
    after="several_appends",
)
def test_cost_of_an_append(candidate, draw):
    def written(before, num_pages, tokens=2, sequence=1, page_size=4, wrt=()):
        cache = cache_of(candidate, num_pages=num_pages, page_size=page_size)
        cache.append(1, *kv(draw, before))
        return cache.append.observe(sequence, *kv(draw, tokens), wrt=wrt).written_elements

    base = written(5, 64)
    assert_grows_at_most(base, written(201, 64), 3, "what an append of 2 positions writes")
    assert_grows_at_most(base, written(5, 512), 3, "what an append writes into a larger pool")
    within = written(200, 8, page_size=256)
    assert_grows_at_most(base, within, 3, "what an append writes into a page that holds 200")
    for tokens, sequence in ((2, 2), (29, 1)):  # one that begins, and one of many pages
        few, many = (written(5, pages, tokens, sequence) for pages in (64, 512))
        assert_grows_at_most(few, many, 3, "what an append writes into a larger pool")
    few, many = (written(5, pages, wrt=(1, 2)) for pages in (64, 512))
    what = "what an append of keys and values that require gradients writes into a larger pool"
    assert_grows_at_most(few, many, 3, what)


@check(
    "Memory is taken once: what the cache holds does not grow with what is appended",
    category="cost",
    points=3,
    after=("several_appends", "names"),
)
def test_memory_is_taken_once(candidate, draw):
    cache = cache_of(candidate, num_pages=16)
    whole = 2 * 16 * 4 * H * D
    cache.append("a", *kv(draw, 1))
    before = cache.held_elements
    for sequence in ("a", "b"):
        cache.append(sequence, *kv(draw, 20))
    cache.free("a")
    cache.append("c", *kv(draw, 29))
    after = cache.held_elements
    if after > before:
        what = "the pool grows" if before < whole else "more and more is kept beside the pool"
        fail(f"{what} with what is appended; a pool made once is wanted", f"{before}, then {after}")
