"""FILL IN: the title, and sources."""

ANSWERS = {
    "first_choice": "FILL IN: the right choice",
    "first_formula": "n**2*d",
}
