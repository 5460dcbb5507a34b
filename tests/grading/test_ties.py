"""Sizes that are equal by chance, and which calls of a grader are varied."""

import itertools
from types import SimpleNamespace

import pytest
import torch

from mha_judge.bank import Bank
from mha_judge.grading.calling.shapes import Shapes
from mha_judge.grading.checks import cases as choosing
from mha_judge.grading.checks.cases import Case
from mha_judge.grading.checks.corners.ties import Tie, Ties, made_equal, ties_of

(ENTRY,) = Bank.builtin().problem("sdpa").entry
MASKS = (None, (1, 1, 5, 7), (2, 1, 1, 7), (2, 3, 5, 7))


def case(mask=None, *, leading=(2, 3), L=5, S=7, D=11, entry=ENTRY):
    args = [torch.randn(*leading, *size) for size in ((L, D), (S, D), (S, 13))]
    args += [None if mask is None else torch.ones(mask, dtype=torch.bool)]
    shapes = Shapes(entry.domain, entry.arguments, args, {})
    return Case(SimpleNamespace(entry=entry), tuple(args), shapes)


def unordered(told):
    return {frozenset(tie) for tie in ties_of(told)}


def test_no_size_is_in_two_ties_of_a_row():
    told = Ties([case()], []).chosen(0, [])

    assert len({*itertools.chain(*ties_of(told))}) == 2 * len(ties_of(told)) > 2


def test_every_pair_of_sizes_is_tied_with_every_question():
    ties = Ties([case(), case((2, 3, 5, 7))], [])
    rows = [(one, ties.chosen(one, [])) for one in (0, 1) * 14]

    names = ("L", "S", "D", "Dv", "items", "heads")
    pairs = {frozenset(pair) for pair in itertools.combinations(names, 2)}
    pairs.remove(frozenset({"items", "heads"}))  # sizes without letters stay
    for one in (0, 1):
        assert {tie for case, told in rows if case == one for tie in unordered(told)} == pairs


def test_a_tie_that_a_value_hides_comes_again():
    hidden = [("scores", "large")]
    ties = Ties([case()], hidden)
    first = ties.chosen(0, [*hidden, ("mode", "no_grad")])
    again = [ties.chosen(0, [("mode", "no_grad")]) for _ in range(6)]

    assert unordered(first) <= {tie for told in again for tie in unordered(told)}


def test_sizes_that_must_stay_are_in_no_tie():
    told = Ties([case()], []).chosen(0, [], ["L", "S"])

    assert told
    assert {*itertools.chain(*ties_of(told))}.isdisjoint({"L", "S"})


def test_ties_keep_what_the_contract_asks_of_sizes():
    ordered = ENTRY.domain.model_copy(update={"at_most": {"L": "S"}})
    longer = case(entry=ENTRY.model_copy(update={"domain": ordered}))

    assert made_equal(longer, [Tie("L", "items")]) == {"L": 2}
    assert made_equal(longer, [Tie("S", "items")]) == {}
    assert made_equal(longer, [Tie("L", "heads"), Tie("S", "items")]) == {}


@pytest.mark.parametrize("order", [1, -1])
def test_masks_of_every_form_are_varied_in_whatever_order_they_were_asked(order):
    plain = [case(leading=leading) for leading in ((2, 3), (1, 3), (2, 1), (1, 1), (3,), ())]
    masked = [case(mask) for mask in MASKS[1:]]
    single = [case(D=1), case(L=1), case((2, 1, 1, 7), S=7, L=1)]

    chosen = choosing._unlike([*plain, *masked, *single][::order], 7)

    shapes = [tuple(one.args[3].shape) for one in chosen if one.args[3] is not None]
    assert {(2, 1, 1, 7), (2, 3, 5, 7)} <= {*shapes}
    assert any(one.args[3] is None for one in chosen)
