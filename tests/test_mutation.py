"""Changes to a reference."""

import pytest

from mha_judge.bank.mutation import mutants


def texts(source):
    return [change.text for change in mutants(source)]


def body(statement):
    return f"def f(x, y):\n    {statement}\n    return x\n"


@pytest.mark.parametrize(
    ("statement", "change"),
    [
        ("x = x + y", "x = x + y → x = x - y"),
        ("x = x @ y", "x = x @ y → x = y @ x"),
        ("x = g(x, y)", "x = g(x, y) → x = g(y, x)"),
        ("x = x.sum(-1)", "x = x.sum(-1) → x = x.sum(-2)"),
        ("x = x == y", "x = x == y → x = x != y"),
        ("x = x and y", "x = x and y → x = x or y"),
        ("x = True", "x = True → x = False"),
        ("x = -y", "x = -y → x = +y"),
        ("x.add_(y)", "x.add_(y) → (dropped)"),
        ("x = y if x else 3", "x = y if x else 3 → x = y if True else 3"),
        ("if x: y = 1", "if x: → if False:"),
    ],
)
def test_a_statement_is_changed(statement, change):
    assert change in texts(body(statement))


def test_each_change_is_made_alone_and_compiles():
    source = body("x = x + y * 2")

    for change in mutants(source):
        compile(change.source, "mutant", "exec")
        assert change.source.count("return x") >= (0 if "return" in change.text else 1)


def test_docstrings_and_what_is_raised_are_left_alone():
    source = 'def f(x):\n    """Say 1."""\n    if x:\n        raise ValueError("1" + str(1))\n'

    assert all("raise" not in text and "Say" not in text for text in texts(source))
