"""What is much alike is pointed out, what starts from the same starter is not."""

from pathlib import Path

import pytest

from mha_judge.scoring.answers import CandidateFile
from mha_judge.scoring.similarity import similar
from mha_judge.submission import Submission

FOLDER = Path(__file__).parents[1] / "submissions" / "sdpa"
SOURCE = (FOLDER / "right_manual_stable_softmax.py").read_text("utf-8")


def hints(bank, **sources):
    answers = [
        CandidateFile(name, "sdpa", Path(f"{name}.py"), Submission.of(source, f"{name}.py"))
        for name, source in sources.items()
    ]
    return [(str(one.likeness), one.candidates) for one in similar(answers, bank)]


def test_comments_and_layout_make_no_difference(bank):
    other = "# mine\n" + SOURCE.replace(" = ", "  =  ").replace("\n\n", "\n\n\n")

    assert hints(bank, a=SOURCE, b=other) == [("identical", ["a", "b"])]


def test_names_make_no_difference(bank):
    other = SOURCE.replace("stable_softmax", "smooth")
    assert other != SOURCE

    assert hints(bank, a=SOURCE, b=other) == [("renamed", ["a", "b"])]


def test_a_small_change_makes_nearly_the_same(bank):
    other = SOURCE + "\nEPSILON = 1\n"

    assert hints(bank, a=SOURCE, b=other) == [("near", ["a", "b"])]


def test_the_starter_is_nobodys(bank):
    starter = bank.starter("sdpa")

    assert hints(bank, a=starter, b=starter) == []


@pytest.mark.parametrize("source", ["x = (", "'''", "  x\n y", "\\"])
def test_what_is_no_python_is_no_obstacle(bank, source):
    assert hints(bank, a=source, b=SOURCE) == []


def test_answers_of_different_people_are_seldom_hinted(bank):
    files = sorted(FOLDER.glob("right_*.py"))

    found = hints(bank, **{path.stem: path.read_text("utf-8") for path in files})

    assert found == []
