"""Mistakes are edits of the reference; what does not fit it is refused, with the remedy."""

import tomllib

import pytest

from mha_judge.bank import Bank
from mha_judge.bank.mistake import ANY, Edit, apply_edits, read_mistakes
from mha_judge.bank.questions import Question
from mha_judge.errors import BankError

REFERENCE = "def scale(x, d):\n    y = x / d**0.5\n    return y\n"
ENTRY = """
[[mistake]]
id = "by-d"
title = "Divides by D"
killed_by = "values"
explanation = "The root is missing."
hint = "Look at the units."
"""
EDIT = "edits = [{ old = 'd**0.5', new = 'd' }]\n"
BANK = Bank.builtin()


@pytest.fixture
def read(tmp_path):
    """Return a function that reads a list of mistakes, with the words that some share."""

    def read(text, shared="", questions=None):
        (tmp_path / "scaling.toml").write_text(text, encoding="utf-8")
        (tmp_path / "shared.toml").write_text(shared, encoding="utf-8")
        return read_mistakes(tmp_path / "scaling.toml", REFERENCE, questions or {})

    return read


def test_a_mistake_is_the_reference_with_its_edits(read):
    [mistake] = read(ENTRY + EDIT)

    assert mistake.source == REFERENCE.replace("d**0.5", "d")
    assert (mistake.id, mistake.killed_by) == ("by-d", "values")


def test_other_constants_are_put_into_the_edits_alone(read):
    edits = "edits = [{ old = 'x / d**0.5', new = 'x / 0.5' }]\n"
    [mistake] = read(ENTRY + edits + "variants = { replace = '0.5', by = ['0.25'] }\n")

    assert mistake.others == {"0.25": REFERENCE.replace("x / d**0.5", "x / 0.25")}
    [numbered] = mistake.with_any
    assert numbered.numbers == ("0.5", "0.25")
    assert numbered.source == REFERENCE.replace("x / d**0.5", f"x / {ANY}")


def test_a_mistake_may_be_a_program_of_its_own(read, tmp_path):
    (tmp_path / "scaling").mkdir()
    (tmp_path / "scaling" / "by_d.py").write_text("def scale(x, d):\n    return x / 0.5\n")

    [mistake] = read(ENTRY + "program = 'by_d.py'\nvariants = { replace = '0.5', by = ['0.25'] }\n")

    assert mistake.source == "def scale(x, d):\n    return x / 0.5\n"
    assert mistake.others == {"0.25": "def scale(x, d):\n    return x / 0.25\n"}


def test_a_shared_mistake_is_made_by_name_or_with_other_edits(read):
    shared = f"[by-d]\n{ENTRY.partition('id = ')[2].partition(chr(10))[2]}{EDIT}"
    other = "edits = [{ old = '**0.5', new = '' }]\nkilled_by = 'scale'\n"

    [one, two] = read(
        f"[[mistake]]\nshared = 'by-d'\n[[mistake]]\nid = 'by-2'\nshared = 'by-d'\n{other}", shared
    )

    assert (one.id, one.title, one.killed_by) == ("by-d", "Divides by D", "values")
    assert one.source == REFERENCE.replace("d**0.5", "d")
    assert (two.id, two.title, two.killed_by) == ("by-2", "Divides by D", "scale")
    assert two.source == REFERENCE.replace("**0.5", "")


def test_shared_words_are_used_by_name_and_may_be_overridden(read):
    shared = (
        '[root]\ntitle = "No root"\nexplanation = "It is not there."\nhint = "A hint of all."\n'
    )
    entry = (
        '[[mistake]]\nid = "by-d"\nshared = "root"\nkilled_by = "values"\nhint = "Its own one."\n'
    )

    [mistake] = read(entry + EDIT, shared)

    assert (mistake.title, mistake.explanation) == ("No root", "It is not there.")
    assert mistake.hint == "Its own one."


def test_every_wrong_choice_is_a_mistake(read):
    wrong = [
        {
            "text": "four",
            "text_zh": "四",
            "why": "It is the square.",
            "title": "The square is taken",
            "hint": "What is its root?",
        },
        {
            "text": "three",
            "text_zh": "三",
            "why": "It is not even.",
            "title": "An odd number",
            "hint": "Is it 2k + 1?",
        },
    ]
    right = {"text": "two", "text_zh": "二"}
    question = Question(
        id="the_root", text="Which one?", right=right, wrong=wrong, explanation="It is two."
    )

    one, other = read("", questions={"the_root": question})

    assert (one.id, one.killed_by) == ("the-root-1", "the-root")
    assert (one.title, one.hint) == ("The square is taken", "What is its root?")
    assert one.explanation == "It is the square."
    assert (other.title, other.hint) == ("An odd number", "Is it 2k + 1?")
    assert one.source == REFERENCE + "\nANSWERS['the_root'] = 'four'\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ENTRY + "edits = [{ old = 'd**2', new = 'd' }]", "by-d: .* occurs 0 times .* copy it"),
        (ENTRY + "edits = [{ old = 'y', new = 'z' }]", "by-d: 'y' occurs 2 times .* include more"),
        (ENTRY, "by-d: must have either edits or a program"),
        (ENTRY + EDIT + "program = 'x.py'", "by-d: must have either .* remove one"),
        (ENTRY + "program = 'missing.py'", "by-d: .*missing.py"),
        (ENTRY + "edits = [{ old = 'x / d', new = '' }, { old = '/ d**0.5', new = '' }]",
         "by-d: .* overlaps the edit before it"),
        (ENTRY + EDIT + "killed = 'x'", "by-d: killed: Extra inputs are not permitted"),
        (ENTRY.replace("hint", "tip") + EDIT, "by-d: hint: Field required"),
        (ENTRY.replace("by-d", "By D") + EDIT, "By D: id: String should match"),
        (ENTRY + EDIT + "shared = 'nothing'", "by-d: shared.toml has no 'nothing'; add it"),
        (ENTRY + EDIT + ENTRY + EDIT, "by-d is there twice"),
        ("mistake = 3 4", "not valid TOML"),
        ("[[mistake]]\ntitle = 'x'", "a mistake without an id"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_file_mistake_and_remedy(read, text, message):
    with pytest.raises(BankError, match=rf"scaling\.toml: {message}"):
        read(text)


def test_edits_are_made_wherever_they_stand_in_the_list():
    edits = [Edit(old="return y", new="return 2 * y"), Edit(old="x / d", new="x * d")]

    assert apply_edits(REFERENCE, edits) == (
        "def scale(x, d):\n    y = x * d**0.5\n    return 2 * y\n"
    )


@pytest.mark.parametrize("problem_id", BANK.ids)
def test_every_program_of_the_bank_is_used(problem_id):
    folder = BANK.root / "reference" / "mistakes" / problem_id
    sources = {mistake.source for mistake in BANK.mistakes(problem_id)}

    assert all(path.read_text("utf-8") in sources for path in folder.glob("*"))


def test_all_shared_words_are_used():
    shared = BANK.root / "reference" / "mistakes" / "shared.toml"
    names = tomllib.loads(shared.read_text("utf-8"))
    lists = [path.read_text("utf-8") for path in shared.parent.glob("*.toml")]

    assert all(any(f'shared = "{name}"' in text for text in lists) for name in names)


@pytest.mark.parametrize("problem_id", BANK.ids)
def test_every_mistake_is_a_program_that_runs(problem_id):
    for mistake in BANK.mistakes(problem_id):
        for source in (mistake.source, *mistake.others.values()):
            exec(compile(source, mistake.id, "exec"), {"__name__": "mistake"})
