"""Mistakes that nobody wrote down are made from the reference, and named by what they change."""

from contextlib import closing

import pytest

from mha_judge.bank import Bank
from mha_judge.bank.problem import Entry
from mha_judge.diagnosis.derived import derived
from mha_judge.diagnosis.programs import Catalogue
from mha_judge.judge import grade
from mha_judge.sandbox import SandboxOptions
from mha_judge.submission import Submission

BANK = Bank.builtin()
ENTRIES = [Entry(name="mix", kind="function", arguments=["q", "k"], returns=["output"])]
REFERENCE = """
import torch

def mix(q, k):
    return q - 2 * k.mT
"""


def titles(reference=REFERENCE, entries=ENTRIES):
    return [mistake.title for mistake in derived(reference, entries)]


def test_a_value_may_stand_in_the_place_of_another():
    assert "As a right answer with “k” where “q” stands" in titles()


def test_a_step_may_be_changed():
    assert (
        "As a right answer with “return q + 2 * k.mT” where “return q - 2 * k.mT” stands"
        in titles()
    )


def test_something_may_be_put_around_it():
    assert "The first input is added to the output" in titles()
    assert "Input 2 is cut from the graph" in titles()


def test_a_wrapped_program_does_what_its_title_says():
    import torch

    programs = Catalogue(REFERENCE, [], ENTRIES).derived.values()
    [added] = [one for one in programs if one.mistakes[0].title.startswith("The first input")]
    q, k = torch.ones(2, 2), torch.eye(2)

    assert torch.equal(added.entry("mix")(q, k), 2 * q - 2 * k)


def test_a_loop_that_may_never_end_is_left_as_it_is():
    loop = REFERENCE + "\n\ndef wait(n):\n    while n > 0:\n        n -= 1\n"

    assert not any(title.startswith("As a right answer") for title in titles(loop))


def test_ids_are_apart():
    ids = [mistake.id for mistake in derived(REFERENCE, ENTRIES)]

    assert len(ids) == len(set(ids))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("last", "title"),
    [
        ("return q + out, weights", "The first input is added to the output"),
        ("return out.tanh(), weights", "The output goes through a tanh"),
    ],
)
def test_the_report_names_it_and_grants_it(last, title):
    source = (
        "import torch\n\n\ndef attention(q, k, v, mask=None):\n"
        "    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:\n"
        "        raise ValueError\n"
        "    scores = q @ k.mT / q.shape[-1] ** 0.5\n"
        "    if mask is not None:\n"
        "        scores = scores.masked_fill(mask == 0, -torch.inf)\n"
        "    weights = scores.softmax(-1)\n    out = weights @ v\n"
        f"    {last}\n"
    )
    if "q + out" in last:  # what has the shape of the queries can be added to them
        source = source.replace(
            "return q + out", "return (q + out if q.shape == out.shape else out)"
        )
    with closing(SandboxOptions("jail").open()) as channel:
        submission = Submission.of(source, "answer.py")
        report = grade(submission, BANK, BANK.problem("sdpa"), channel, seed=3)

    if "tanh" in title:
        assert [one.title for one in report.diagnoses] == [title]
        assert report.score == 75.0
    assert report.verdict == "rejected"
