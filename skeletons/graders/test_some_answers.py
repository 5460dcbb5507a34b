"""FILL IN: what is asked about."""

# n length  d width

from mha_judge.grading import assert_choice, assert_same_formula, check


@check("FILL IN: the question", category="values", points=2, question="first_choice")
def test_first_choice(candidate):
    assert_choice(candidate.ANSWERS, "first_choice")


@check(
    "FILL IN: the question that a formula answers",
    category="values",
    points=2,
    question="first_formula",
)
def test_first_formula(candidate):
    assert_same_formula(candidate.ANSWERS.get("first_formula"), "n**2*d", "nd")
