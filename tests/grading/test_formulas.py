"""Formulas are read in any usual notation, compared as growth or exactly, and never executed."""

import contextlib
import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mha_judge.grading.formulas.growth import (
    FormulaError,
    Outcome,
    equal_exactly,
    from_answer,
    parse,
    same_growth,
)

LETTERS = "ndhBNGkTwb"
LIMITS = (("h", "d"), ("w", "n"), ("G", "h"))
MONOMIALS = st.dictionaries(st.sampled_from("ndh"), st.integers(1, 3), min_size=1)
POLYNOMIALS = st.lists(st.tuples(st.integers(1, 99), MONOMIALS), min_size=1, max_size=4)
SNIPPETS = st.sampled_from(
    [*"ndh0123456789()[]{}+-*/^.,²³⁻√·×−Θ \\$", "**", "log", "sqrt", "max(", "^12", "O(", "\\frac"]
)


def growth(found, expected):
    return same_growth(parse(found, LETTERS), parse(expected, LETTERS), LIMITS)


@pytest.mark.parametrize(
    "text",
    [
        "n**2*d", "n^2 d", "n^2d", "O(n^2*d)", "Θ(n²·d)", "Theta(n^2 d)", "theta(n n d)",
        "$O(n^2 d)$", r"\Theta(n^{2} \cdot d)", r"$\mathcal{O}\left(n^2 \times d\right)$",
        "n*n*d", "nnd", "n² × d", "n² ⋅ d", "n²*d", "dn^2", "d(n)(n)", "n * (n * d)", "n^3 d/n",
        "n³ n⁻¹ d", r"\frac{n^3 d}{n}", "（n＊n）d", "n^3 d n^-1", "[n]{n}d", "--n n d", "O(nd) n",
        "n^2 sqrt(d)^2", "√(n^4) d", "n^1.5 n^(1/2) d", "max(n, n) min(n,n) d",
    ],
)  # fmt: skip
def test_a_usual_notation_reads_as_n_squared_d(text):
    values = {"n": 36, "d": 49}

    formula = parse(text, LETTERS)

    assert formula.evaluate(values) == 36**2 * 49
    assert equal_exactly(formula, parse("n**2*d", LETTERS))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n(n+1)/2", 136), ("n - 2 - 3", 11), ("64/n/2", 2), ("2^-1 n", 8), ("-n^2", -256),
        ("2^2^2", 16), ("n log n", 64), ("n log2(n)", 64), ("log_2 n", 4), ("log₂(n)", 4),
        ("log_{2} n^2", 8), ("sqrt n", 4), ("√n + 1", 5), ("max(n, 3)", 16), ("min(n, 3)", 3),
        ("2.5n", 40), ("3/(2n)", Fraction(3, 32)), ("n^0", 1), ("n × -1", -16), ("nlogn", 64),
        (r"n \log n", 64), (r"\sqrt{n}", 4), ("007 n 0.50", 56), ("2 3", 6),
        ("log sqrt n^4 * 2", 16), (r"8/\frac{n}{2}^2", Fraction(1, 8)), ("2^-√4 * n", 4),
        ("log \\Theta(n)^2", 8),
    ],
)  # fmt: skip
def test_a_formula_has_the_value_of_ordinary_algebra(text, value):
    assert parse(text, LETTERS).evaluate({"n": 16}) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "found the end at position 1"),
        ("n + x", "found 'x' at position 5; allowed are the letters B, G, N, T, b, d, h, k, n, w"),
        ("n^2 * seq_len", "found 'seq_len' at position 7"),
        ("n +", "found the end at position 4"),
        ("(n", "expected '\\)'"),
        ("(n]", "found ']' at position 3; expected '\\)'"),
        ("n)", "found '\\)' at position 2"),
        ("n = d", "found '=' at position 3"),
        ("2^n", "found a power at position 2; a power must be a number"),
        ("n^13", "between -12 and 12"),
        ("n^(1/3)", "half or quarter"),
        ("9" * 16, "16 digits"),
        ("n" * 301, "301 characters; at most 300"),
        ("(" * 100 + "n", "levels of nesting"),
        ("n/2d", "a/b\\*c or a/\\(b\\*c\\)"),
        ("log nd", "brackets around what the function"),
        ("log log n", "logarithm of a logarithm"),
        ("log (n log d)", "found 'log' at position 1; a logarithm of a logarithm"),
        ("log x", "found 'x' at position 5; allowed"),
        ("O(n, d)", "found ',' at position 4; one formula is wanted, without a comma"),
        ("n(d, h)", "without a comma"),
        ("max(n,)", "found '\\)' at position 7"),
        ("()", "found '\\)' at position 2"),
        ("n²^3", "found '\\^' at position 3"),
        ("(d) ^ ((2n))", "found a power at position 5"),
        (r"\frac{n} d", "found 'd' at position 10; expected '\\('"),
        ("__import__('os')", "found '__import__' at position 1"),
        ("n^(1/0)", "divides by zero"),
        ("Ω(n)", "found 'Ω' at position 1"),
        ("\x1b[31m", r"found '\\x1b'"),
    ],
)
def test_a_text_that_is_no_formula_is_refused_with_what_was_found(text, message):
    with pytest.raises(FormulaError, match=message):
        parse(text, LETTERS)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ("n^2 d + n d^2 + h n^2", "n^2 d + n d^2"),
        ("h * n^2 * (d/h)", "n^2 d"),
        ("n(n-1)/2*d", "n^2 d"),
        ("max(n, d)*n*d", "n^2 d + n d^2"),
        ("4nd^2 + 2n^2d + 100 n d + 7", "n^2 d + n d^2"),
        ("n^2 d (1 + 1/n)", "n^2 d"),
        ("nwd + w^2 d", "nwd"),
        ("G n + d n", "n d"),
        ("1000000 n", "n"),
        ("n", "1000000 n"),
        ("n log(n^2) d", "n d log n"),
        ("n sqrt(d^2 + 1)", "n d"),
        ("3", "1"),
        ("B N G k T w b n d h", "b h d n w T k G N B"),
        ("n^2 d + n d + n log n + h log n", "n^2 d"),
        ("(n + log n)^2 d - n log d", "n^2 d"),
        ("n^2 d + n d^2 + n d sqrt(h) log n", "n^2 d + n d^2"),
        ("(T + d) d + sqrt(T) d log(T) + d log(T)^2", "T d + d^2"),
        ("n log(h + 2)/log(h + 2) + w", "n"),
        ("n log(5 n d + 3) d", "n d max(log n, log d)"),
        ("n log_10(n^3) + n log(1000)", "n ln(n)"),
        ("n log(1 + 1/n) + n", "n"),
        ("3 + 1/log(n)", "1"),
        ("min(n, n log d) d", "n d"),
        ("B N G k T w b n d h + log n", "b h d n w T k G N B"),
    ],
)
def test_formulas_that_differ_in_constants_and_lower_terms_grow_alike(found, expected):
    assert growth(found, expected).is_equal


@pytest.mark.parametrize(
    ("found", "expected", "outcome", "regime"),
    [
        ("n^2 d", "n^2 d + n d^2", Outcome.TOO_SMALL, "when d grows faster than n"),
        ("n d^2", "n^2 d + n d^2", Outcome.TOO_SMALL, "when n grows faster than d"),
        ("T d + d^2", "d^2", Outcome.TOO_LARGE, "when T grows faster than d"),
        ("k n d^2", "n d^2", Outcome.TOO_LARGE, "when d, k and n grow alike"),
        ("n^2 d", "n w d", Outcome.TOO_LARGE, "when n grows faster than d and w"),
        ("n w d", "n^2 d", Outcome.TOO_SMALL, "when n grows faster than d and w"),
        ("n^2 d log n", "n^2 d", Outcome.TOO_LARGE, "when d and n grow alike"),
        ("n^2", "n", Outcome.TOO_LARGE, "when n grows"),
        ("1", "n", Outcome.TOO_SMALL, "when n grows"),
        ("n sqrt(d)", "n d", Outcome.TOO_SMALL, "when d and n grow alike"),
        ("n d sqrt(log n)", "n d", Outcome.TOO_LARGE, "when d and n grow alike"),
        ("n log d", "n log n", Outcome.TOO_LARGE, "when d grows faster than n"),
        ("h n^2 + n d", "n d", Outcome.TOO_LARGE, "when d, h and n grow alike"),
        ("min(n, d) n d", "n^2 d", Outcome.TOO_SMALL, "when n grows faster than d"),
        (
            "n^2 d + n d^2 + h n^2 d",
            "n^2 d + n d^2",
            Outcome.TOO_LARGE,
            "when d, h and n grow alike",
        ),
    ],
)
def test_growth_parts_in_the_regime_named(found, expected, outcome, regime):
    result = growth(found, expected)

    assert result.outcome is outcome
    assert result.regime == regime
    assert result.regime in result.detail


@pytest.mark.parametrize(
    ("found", "expected", "regime"),
    [
        ("n d^2 (k + log n)", "k n d^2", "log d and log n grow faster than every power of k"),
        ("n^2 d + n d log(n) log(d)", "n^2 d", "log d grows faster than every power of n"),
        ("n^2 d + n h log h", "n^2 d", "log d and log h grow faster than every power of n"),
        ("n + log d", "n", "log d grows faster than every power of n"),
        ("max(n, log d) d", "n d", "log d grows faster than every power of n"),
        ("T d + d^2 + T log T", "T d + d^2", "log T grows faster than every power of d"),
        ("B N G T w b n + log k", "B N G T w b n", "log k grows faster than every power of B, G"),
    ],
)
def test_a_logarithm_shows_where_all_else_stays_small_beside_it(found, expected, regime):
    larger, smaller = growth(found, expected), growth(expected, found)

    assert (larger.outcome, smaller.outcome) == (Outcome.TOO_LARGE, Outcome.TOO_SMALL)
    assert regime in larger.regime
    assert larger.regime in larger.detail


@pytest.mark.parametrize(
    ("a", "b", "p", "q"), [*itertools.product((-2, -0.5, 0), (-1, 0), (0, 1, 3), (0, 0.5, 2))]
)
def test_a_term_is_outweighed_if_and_only_if_it_is_in_each_letter(a, b, p, q):
    is_bounded = all(power < 0 or logs == 0 for power, logs in ((a, p), (b, q)))
    found = f"n d (7 + n^{a} d^{b} log(5n)^{p} log(d + 3)^{q})"

    assert growth(found, "n d").is_equal is is_bounded


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0", "zero or negative"),
        ("n - n", "zero or negative"),
        ("d - n", "zero or negative"),
        ("-n d", "zero or negative"),
        ("n d/(n - n)", "divides by zero"),
        ("sqrt(-n)", "root of a negative"),
        ("n log(d - d)", "logarithm of a number"),
        ("((((n^12)^12)^12)^12)^12", "too large"),
        ("n d - d log d", "zero or negative, when log d grows faster"),
        ("n d + sqrt(n^9 - log(d)) / n^9", "root of a negative number, when log d grows faster"),
    ],
)
def test_a_formula_without_a_positive_value_is_undefined(text, message):
    result = growth(text, "n d")

    assert result.outcome is Outcome.UNDEFINED
    assert message in result.detail


def test_a_constraint_through_an_absent_letter_counts():
    found, expected = parse("n d + n G", LETTERS), parse("n d", LETTERS)

    assert same_growth(found, expected, [("G", "h"), ("h", "d")]).is_equal
    assert same_growth(found, expected).outcome is Outcome.TOO_LARGE


def test_an_expected_formula_that_is_not_positive_is_the_judges_fault():
    with pytest.raises(ValueError, match="expected formula 'n - n'"):
        growth("n", "n - n")


@pytest.mark.parametrize(
    "text", ["1/(h/G)", "G/h + 0", "2G/(2*h)", "(G^2 + G)/(h G + h)", "√(G²)/h"]
)
def test_the_same_rational_function_is_equal_exactly(text):
    assert equal_exactly(parse(text, LETTERS), parse("G/h", LETTERS))


@pytest.mark.parametrize(
    "text", ["1/h", "h/G", "G/h + 0.000000000001", "G/(h+1)", "0.5", "1/(h-h)", "log G / h", "G²/h"]
)
def test_another_function_is_not_equal_exactly(text):
    assert not equal_exactly(parse(text, LETTERS), parse("G/h", LETTERS))


@pytest.mark.parametrize(
    ("answer", "value"), [(3, 3), (2.0, 2), (0.1, Fraction(1, 10)), ("n", 5), (0, 0), (-2, -2)]
)
def test_numbers_and_text_are_answers(answer, value):
    assert from_answer(answer, LETTERS).evaluate({"n": 5}) == value


@pytest.mark.parametrize(
    "answer", [True, None, b"n", ["n"], float("nan"), float("inf"), 10**16, 1e300, 1e-300, 1j]
)
def test_anything_else_is_no_answer(answer):
    with pytest.raises(FormulaError):
        from_answer(answer, LETTERS)


def survives(text):
    """Read and compare `text`; anything but a FormulaError is a bug."""
    try:
        formula = parse(text, LETTERS)
    except FormulaError:
        return
    equal_exactly(formula, parse("G/h", LETTERS))
    if same_growth(formula, parse("n^2 d + n d^2", LETTERS)).outcome is Outcome.UNDEFINED:
        return
    with contextlib.suppress(ValueError):  # itself expected: not positive in some regime
        same_growth(formula, formula)


@settings(deadline=None)
@given(st.text(max_size=320))
def test_arbitrary_text_raises_nothing_else(text):
    survives(text)


@settings(deadline=None)
@given(st.lists(SNIPPETS, max_size=60).map("".join))
def test_text_close_to_formulas_raises_nothing_else(text):
    survives(text)


@pytest.mark.parametrize(
    "text",
    [
        "(n+d)" * 60,
        "+".join(["(n+d+h)^8"] * 30),
        "+".join(["1/(n+d)"] * 37),
        "sqrt(n+d+1)*" * 24 + "n",
        "+".join(["n^4d^4"] * 42),
        "(BNGkT+wbndh)(n+d+h+k+T)(B+1/N+1/w)",
        "(" * 38 + "n" + "^12)" * 38,
        "log(n+d+h)*" * 27 + "n",
        "-" * 299 + "n",
        "max(n^7,d^7,h^7)+" * 17 + "n",
        "+".join(["(n+d+h+k)^7"] * 25),
        "+".join(["(B+N+G+k+T+w)^5(n+d+h)^2"] * 12),
        "+".join(["sqrt((n+d+1)^7)"] * 18),
    ],
)
@pytest.mark.timeout(60)
def test_a_hostile_formula_is_compared_in_bounded_time(text):
    survives(text)


def written(polynomial, times, power, opening="", closing=""):
    terms = (
        times.join([str(factor), *(power(name, exponent) for name, exponent in monomial.items())])
        for factor, monomial in polynomial
    )
    return opening + " + ".join(terms) + closing


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(POLYNOMIALS)
def test_one_polynomial_in_several_notations_is_one_formula(polynomial):
    python = parse(written(polynomial, "*", lambda a, e: f"{a}**{e}"), LETTERS)
    notations = [
        written(polynomial, " ", lambda a, e: f"{a}^{e}"),
        written(polynomial, "", lambda a, e: a * e),
        written(polynomial, "·", lambda a, e: a + " ¹²³"[e], "Θ(", ")"),
        written(polynomial, r" \cdot ", lambda a, e: f"{a}^{{{e}}}", r"$\Theta(", ")$"),
    ]

    for text in notations:
        formula = parse(text, LETTERS)
        assert equal_exactly(formula, python)
        assert same_growth(formula, python).is_equal


@settings(deadline=None)
@given(POLYNOMIALS, st.sampled_from("ndh"))
def test_a_polynomial_times_a_letter_grows_faster(polynomial, letter):
    text = written(polynomial, "*", lambda a, e: f"{a}^{e}")

    result = growth(f"({text})*{letter}", text)

    assert result.outcome is Outcome.TOO_LARGE
