"""Marks tell which blocks of a file were reached, and change nothing else."""

import traceback

import pytest

from mha_judge.grading.calling.replies import parse_reached
from mha_judge.grading.calling.unreached import unreached
from mha_judge.grading.failures import Crashed
from mha_judge.worker import reach

SOURCE = '''\
"""A file."""
from __future__ import annotations


class Layer:
    """A layer."""

    def __private(self):
        return 1

    def forward(self, x):
        """Forward."""
        for _ in range(x):
            pass
        else:
            self.done = True
        return self.__private()


def f(kind):
    if kind == 1:
        return "one"
    elif kind == 2:
        return "two"
    try:
        match kind:
            case 3:
                return "three"
            case _:
                raise ValueError(kind)
    except ValueError:
        with open("/dev/null"):
            pass
        while False:
            never = 1
    finally:
        kind = None
    return [y for y in (1, 2)]


def unused():
    """Nobody calls it."""
    if True:
        return 1


if __name__ == "__main__":
    f(1)
'''


@pytest.fixture
def run():
    def run_(source):
        names = {**reach.names(), "__name__": "submission"}
        exec(reach.marked(source, "answer.py"), names)
        return names

    return run_


def test_what_was_not_reached_is_told_by_its_lines(run):
    names = run(SOURCE)
    reached = set(reach.take())
    assert names["f"](1) == "one"
    assert names["f"](9) == [1, 2]
    assert names["Layer"]().forward(2) == 1
    reached |= set(reach.take())
    assert reach.take() == []

    assert unreached(SOURCE, reached) == [(24, 24), (28, 28), (35, 35), (42, 44)]


def test_a_block_that_is_reached_later_is_told_then(run):
    names = run(SOURCE)
    first = set(reach.take())
    names["f"](2)
    assert (24, 24) not in unreached(SOURCE, first | set(reach.take()))


def test_documents_names_and_lines_stay(run):
    names = run(SOURCE)
    assert names["__doc__"] == "A file."
    assert names["Layer"].__doc__ == "A layer."
    assert names["Layer"].forward.__doc__ == "Forward."
    assert names["f"].__annotations__ == {}
    with pytest.raises(TypeError) as caught:
        names["Layer"]().forward("x")
    assert traceback.extract_tb(caught.tb)[-1].lineno == 13


@pytest.mark.parametrize("source", ["def f(:\n", "return 1\n", "def f(a, a): pass\n", "x = 1\n\0"])
def test_what_does_not_compile_says_so_as_ever(source):
    with pytest.raises((SyntaxError, ValueError)) as plain:
        compile(source, "answer.py", "exec", dont_inherit=True)
    with pytest.raises((SyntaxError, ValueError)) as with_marks:
        reach.marked(source, "answer.py")
    assert str(with_marks.value) == str(plain.value)


def test_a_file_that_is_too_deep_to_be_marked_runs_all_the_same(run):
    depth = 90  # Python's own bound of nested blocks is 100 levels of indentation
    deep = "".join(f"{' ' * n}if True:\n" for n in range(depth)) + " " * depth + "x = 7\n"
    assert run("y = " + "-" * 2000 + "1\n")["y"] == 1
    assert run(deep)["x"] == 7


def test_nothing_is_known_of_a_file_without_marks():
    assert unreached(SOURCE, []) == []
    assert unreached("def f(:", [1]) == []


@pytest.mark.parametrize("said", [[-1], ["x"], [10**9], "all", [1] * 300_000])
def test_a_worker_that_talks_nonsense_has_crashed(said):
    with pytest.raises(Crashed):
        parse_reached(said)
