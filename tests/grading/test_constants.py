"""The whole numbers that stand in a program."""

import pytest

from mha_judge.grading.formulas.constants import integers_in


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x = 7", [7]),
        ("LIMIT = 2 ** 10", [1024, 2, 10]),
        ("table = make(32 * 16, 1 << 5)", [512, 32, 32, 16, 1, 5]),
        ("x = 1e3", [1000]),
        ("x = 0.5 + y", []),
        ("x = 10 ** 400", [10, 400]),
        ("x = 1e400 - 1j", []),
        ("x = 2 ** -1", [2, 1]),
        ("x = '7'", []),
        ("x = (", []),
        ("x = \0", []),
    ],
)
def test_numbers_are_found_and_worked_out(source, found):
    assert sorted(integers_in(source)) == sorted(set(found))


def test_a_sum_of_thousands_is_no_work():
    assert 1 in integers_in("x = " + " + ".join(["1"] * 500))
