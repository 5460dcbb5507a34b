# problem: some-answers
"""FILL IN: the title."""

ANSWERS = {
    "first_choice": "",  # TODO
    "first_formula": "",  # TODO: a formula
}
