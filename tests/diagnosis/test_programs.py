"""Mistakes as edits of the reference, and pairs of them as one program."""

import math

import pytest
import torch

from mha_judge.bank.mistake import ANY, Mistake, Numbered
from mha_judge.diagnosis.programs import Catalogue, Hunk, hunks, numbers_of

REFERENCE = '''"""Twice the sum, halved."""


def total(x: list[float]) -> float:
    """Return the sum of x."""
    if not x:
        raise ValueError("x is empty")
    result = sum(x)
    result = result * 2
    return result / 2
'''


def mistake(name, old, new, says=None):
    return Mistake(
        id=name,
        source=REFERENCE.replace(old, new),
        title=f"Does {name}",
        killed_by="values",
        explanation="It is not what was asked.",
        hint="Look at each line.",
        says=says,
    )


@pytest.fixture
def catalogue():
    mistakes = [
        mistake("maximum", "sum(x)", "max(x)"),
        mistake("minimum", "sum(x)", "min(x)"),
        mistake("thrice", "result / 2", "result / 3"),
        mistake("slow", "", "", says="slow"),
    ]
    return Catalogue(REFERENCE, mistakes)


def test_a_program_does_what_its_file_does(catalogue):
    assert catalogue.programs["maximum"].entry("total")([3, 5]) == 5


def test_words_of_exceptions_and_docstrings_are_no_edit(catalogue):
    assert len(catalogue._hunks_of(catalogue.programs["maximum"])) == 1
    with pytest.raises(ValueError, match="refused"):
        catalogue.programs["thrice"].entry("total")([])


def test_numbers_of_a_candidate_stand_in_mistakes_that_have_such_a_number():
    divided = mistake("thrice", "result / 2", "result / 3.0")
    source = REFERENCE.replace("result / 2", f"result / {ANY}")
    divided = divided.model_copy(update={"with_any": (Numbered(source=source, numbers=("3.0",)),)})
    huge = "0x" + 9999 * "f"
    numbers = numbers_of(f"def f(x):\n    return x[-2.5:8] / 4.5 / 3.0 / -1e9 / 1e999 + {huge}\n")
    assert sorted(numbers) == ["-1000000000.0", "-2.5", "3.0", "4.5", "8"]

    alone = Catalogue(REFERENCE, [divided])
    alone.add(mistake("found-of-another-candidate", "sum(x)", "max(x)"))

    known = alone.knowing(numbers)

    [new] = known.programs.keys() - {"thrice"}
    assert known.programs[new].entry("total")([2.25]) == 1.0
    assert known.named(new).mistakes == (divided,)


@pytest.mark.parametrize("source", ["(" * 5000 + ")" * 5000, "x = -" + "-" * 5000 + "1"])
def test_a_file_that_cannot_be_read_has_no_numbers(source):
    assert numbers_of(source) == []


def test_a_pair_makes_both_mistakes(catalogue):
    [pair] = catalogue.pairs(["maximum", "thrice"])

    assert pair.entry("total")([3, 6]) == 4
    assert [m.id for m in pair.mistakes] == ["maximum", "thrice"]


def test_mistakes_in_one_line_make_no_pair(catalogue):
    assert list(catalogue.pairs(["maximum", "minimum"])) == []


def test_a_mistake_of_right_values_is_no_program(catalogue):
    assert "slow" not in catalogue.programs
    assert [m.id for m in catalogue.by_check("values", "is slow")] == ["slow"]
    assert catalogue.by_check("shape", "is slow") == []


def test_the_mistakes_beside_another_take_it_for_right(catalogue):
    both = catalogue.beside(catalogue.programs["maximum"])

    assert both.right.entry("total")([3, 6]) == 6
    assert both.programs["thrice"].entry("total")([3, 6]) == 4
    assert [*both.mistakes] == ["thrice", "slow"]  # two do not fit one line


def test_edits_turn_one_text_into_the_other():
    assert hunks(["a", "b", "c"], ["a", "x", "c"]) == [Hunk(1, 2, ("x",))]


@pytest.mark.parametrize(
    ("one", "other", "meets"),
    [
        ((1, 2), (3, 4), False),
        ((1, 2), (2, 3), False),
        ((1, 3), (0, 5), True),
        ((4, 4), (4, 4), True),
        ((2, 2), (2, 3), False),
        ((3, 3), (2, 3), False),
        ((3, 3), (2, 4), True),
    ],
)
def test_edits_meet_where_they_share_lines(one, other, meets):
    assert Hunk(*one, ()).meets(Hunk(*other, ())) is meets
    assert Hunk(*other, ()).meets(Hunk(*one, ())) is meets


def test_other_constants_are_programs_of_the_same_mistake():
    known = mistake("factor", "* 2", "* 5")
    known = known.model_copy(update={"others": {"* 7": REFERENCE.replace("* 2", "* 7")}})

    catalogue = Catalogue(REFERENCE, [known])

    assert catalogue.programs["factor"].entry("total")([2]) == 5
    assert catalogue.programs["factor with * 7"].entry("total")([2]) == 7
    assert list(catalogue.pairs(["factor", "factor with * 7"])) == []


def test_what_two_mistakes_share_is_done_once():
    reference = "import math\n\n\ndef f(x):\n    y = x + 1\n    return y * 2\n"
    sources = {
        "one": "\n\ndef f(x):\n    y = x + 3\n    return y * 2\n",
        "other": "\n\ndef f(x):\n    y = x + 1\n    z = y\n    return z * 5\n",
    }
    template = mistake("template", "", "")
    mistakes = [
        template.model_copy(update={"id": name, "source": source})
        for name, source in sources.items()
    ]

    [pair] = Catalogue(reference, mistakes).pairs(["one", "other"])

    assert pair.entry("f")(1) == 20


def test_a_program_without_infinity_fills_in_a_number_or_nothing():
    reference = (
        "import math\n\n\n"
        "def filled(x, mask):\n    return x.masked_fill(mask == 0, -math.inf)\n\n\n"
        "def chosen(np, x, mask):\n    return np.where(mask == 0, -math.inf, x)\n"
    )
    x, mask = torch.tensor([1.0, 2.0]), torch.tensor([1, 0])

    programs = Catalogue(reference, []).right.without_infinity

    entries = [(one.entry("filled"), one.entry("chosen")) for one in programs]
    second = [
        (float(filled(x, mask)[1]), float(chosen(torch, x, mask)[1])) for filled, chosen in entries
    ]
    number, infinity = -6e4, -math.inf
    assert second == [
        (number, number), (2.0, 2.0),
        (number, infinity), (2.0, infinity), (infinity, number), (infinity, 2.0),
    ]  # fmt: skip


@pytest.mark.parametrize("factor", ["-math.inf", "x.dtype.type(-math.inf)"])
def test_infinity_that_is_multiplied_stays(factor):
    reference = (
        f"import math\n\n\ndef f(x, mask):\n    x = x + mask * {factor}\n"
        "    return x.masked_fill(mask == 2, -math.inf) * 1\n"
    )

    programs = Catalogue(reference, []).right.without_infinity

    assert [factor in one.source for one in programs] == [True, True]
    assert [one.source.count("-math.inf") for one in programs] == [1, 1]
