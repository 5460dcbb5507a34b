"""Questions: letters follow from the version, answers are taken by letter or by text."""

import re

import pytest

from mha_judge.bank import Bank
from mha_judge.bank.catalogue import BEGIN, END, with_questions
from mha_judge.bank.questions import (
    Choice,
    Question,
    WrongChoice,
    _plain,
    as_markdown,
    read_questions,
)
from mha_judge.errors import BankError
from mha_judge.judge import grade
from mha_judge.report.models import Reveal
from mha_judge.report.reveal import revealed
from mha_judge.sandbox import SandboxOptions
from mha_judge.submission import Submission

CHOICES = [
    WrongChoice(
        text=f"choice {n}", text_zh=f"选项 {n}", why=f"It is not {n}.",
        title=f"The number {n} is chosen", hint="Count once more.",
    )
    for n in range(1, 4)
]  # fmt: skip
RIGHT = Choice(text="The right one.", text_zh="正确的。")


def question(version=1):
    return Question(
        id="why", text="Why?", text_zh="为什么？", right=RIGHT, wrong=CHOICES,
        explanation="Because.", version=version,
    )  # fmt: skip


def letter_of_right(version):
    return next(letter for letter, c in question(version).choices.items() if c == RIGHT)


def test_every_choice_has_a_letter_of_its_own():
    choices = question().choices

    assert list(choices) == ["a", "b", "c", "d"]
    assert {c.text for c in choices.values()} == {RIGHT.text, *(c.text for c in CHOICES)}


def test_a_new_version_shuffles_the_letters():
    assert len({letter_of_right(version) for version in range(20)}) > 1
    assert letter_of_right(3) == letter_of_right(3)


@pytest.mark.parametrize("dress", ["{}", "({})", "{})", "[{}]", " {} ", "{}."])
@pytest.mark.parametrize("case", [str.lower, str.upper])
def test_a_letter_is_taken_in_any_dress(dress, case):
    answer = dress.format(case(letter_of_right(1)))

    assert question().chosen(answer) == RIGHT


@pytest.mark.parametrize("answer", ["The right one", "the  right one.", "正确的"])
def test_the_whole_text_of_a_choice_is_an_answer(answer):
    assert question().chosen(answer) == RIGHT


def test_signs_may_be_typed_as_a_keyboard_has_them():
    for one, other in (
        ("it depends on i − j only", "It depends on i - j only."),
        ("N · w, and n² × √D", "n*w, and n^2 * sqrt D"),
        ("φ(q)(φ(k)ᵀ v)", "phi(q) (phi(k)^T v)"),
        ("值，和键", "值,和键"),
    ):
        assert _plain(one) == _plain(other)
    assert _plain("i − j") != _plain("i + j")


@pytest.mark.parametrize("form", ["{}) {}", "({}) {}", "{}. {}", "{}: {}", "{}）{}"])
@pytest.mark.parametrize("text", ["The right one", "正确的"])
def test_a_choice_may_be_copied_with_its_letter(form, text):
    right = letter_of_right(1)
    [wrong, *_] = [letter for letter in "abcd" if letter != right]

    assert question().chosen(form.format(right, text)) == RIGHT
    assert question().chosen(form.format(wrong, text)) is None
    assert question().chosen(form.format(right, "something else")) is None


@pytest.mark.parametrize("answer", ["e", "", "right", None, 1, ["a"], "a b"])
def test_what_names_no_choice_is_no_answer(answer):
    assert question().chosen(answer) is None


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_statement_gets_the_questions_between_its_marks(language):
    statement = f"# Head\n\n{BEGIN}stale\n{END}\ntail\n"

    text = with_questions(statement, {"why": question()}, language)

    assert "stale" not in text
    assert as_markdown({"why": question()}, language) in text
    assert text.startswith("# Head") and text.endswith("tail\n")
    assert with_questions(text, {"why": question()}, language) == text


def test_a_broken_file_names_itself_and_the_key(tmp_path):
    path = tmp_path / "questions.toml"
    path.write_text('[[question]]\nid = "a"\n', encoding="utf-8")

    with pytest.raises(BankError, match=r"questions\.toml: a: explanation: Field required; add"):
        read_questions(path)


WRONG = {
    "text": "Four", "text_zh": "四", "why": "It is the square.", "title": "The square is taken",
    "hint": "What is its root?",
}  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (WRONG | {"title": ""}, "title: String should have at least 5 characters; correct"),
        (WRONG | {"hnt": "x"}, "hnt: Extra inputs are not permitted; remove the key"),
        *(
            ({k: v for k, v in WRONG.items() if k != key}, f"{key}: Field required; add the key")
            for key in ("why", "title", "hint")
        ),
    ],
)
def test_a_broken_wrong_choice_is_named_with_its_question(tmp_path, wrong, message):
    path = tmp_path / "questions.toml"
    choice = ", ".join(f'{key} = "{value}"' for key, value in wrong.items())
    path.write_text(
        f'[[question]]\nid = "a"\nexplanation = "Two."\nwrong = [{{ {choice} }}]\n',
        encoding="utf-8",
    )

    with pytest.raises(BankError, match=rf"questions\.toml: a: wrong choice 1 “Four”: {message}"):
        read_questions(path)


def test_a_problem_without_questions_has_none(tmp_path):
    assert read_questions(tmp_path / "questions.toml") == {}


@pytest.mark.parametrize("problem_id", ["complexity", "concepts"])
def test_every_question_is_explained_in_chinese(problem_id):
    english = [
        question.id
        for question in Bank.builtin().questions(problem_id).values()
        if not re.search("[一-鿿]", question.explanation_zh)
    ]

    assert english == []


def test_who_is_told_the_right_choice_reads_where_its_text_ends():
    chinese = Question(**question().model_dump() | {"explanation_zh": "因为如此。"})
    letter = letter_of_right(1)

    assert question().told("en") == f"{letter}) The right one. Because."
    assert question().told("zh") == f"{letter}) 正确的。Because."
    assert chinese.told("zh") == f"{letter}) 正确的。因为如此。"


@pytest.mark.slow
def test_explanations_are_told_with_hints_and_not_before():
    bank = Bank.builtin()
    submission = Submission.read(bank.reference("complexity"))
    channel = SandboxOptions("jail").open()
    try:
        report = grade(submission, bank, bank.problem("complexity"), channel)
    finally:
        channel.close()

    assert all(check.explanation for check in report.checks)
    told = {level: str(revealed(report, level)) for level in Reveal}
    words = report.checks[0].explanation[:40]
    assert [level for level in Reveal if words in told[level]] == [Reveal.HINTS, Reveal.FULL]
