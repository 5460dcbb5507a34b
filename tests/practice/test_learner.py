"""A learner at work: rounds, hints with a price, misconceptions that come back."""

import pytest
from practising import BANK, hand_in

from mha_judge.bank.ladder import PRICES
from mha_judge.bank.listing import summaries
from mha_judge.errors import UsageError
from mha_judge.practice import reviews
from mha_judge.practice.order import Kind, known, misconceptions, proposals
from mha_judge.practice.progress import End
from mha_judge.practice.solution import solution_of
from mha_judge.practice.standing import standings

SHARED = next(name for name, mistake in misconceptions(BANK, "sdpa").items() if mistake == "argmax")


def begin(learner, problem, tmp_path):
    path = tmp_path / f"{problem}.py"
    learner.begin(problem, path)
    return path


def solve(learner, problem, tmp_path, clock, *mistakes, tries=1):
    path = begin(learner, problem, tmp_path)
    for number in range(tries):
        clock.wait(minutes=5)
        last = number + 1 == tries
        kept = hand_in(learner, problem, *([] if last else mistakes), path=path, accepted=last)
    return kept


def proposed(learner, clock, language="en"):
    return proposals(BANK, learner.progress, clock(), language)


def test_an_accepted_answer_ends_the_round(learner, clock, tmp_path):
    path = begin(learner, "sdpa", tmp_path)
    clock.wait(minutes=5)
    first = hand_in(learner, "sdpa", "argmax", path=path)
    assert (first.number, first.solved, first.attempt.diagnoses) == (1, False, ("argmax",))
    clock.wait(minutes=4)
    second = hand_in(learner, "sdpa", path=path, accepted=True)
    assert (second.number, second.solved, second.attempt.seconds) == (2, True, 240)
    assert learner.progress.open_round("sdpa") is None
    standing = standings(learner.progress)["sdpa"]
    assert (standing.tries, standing.best, standing.first_try) == (2, 100, False)
    later = hand_in(learner, "sdpa", path=path, accepted=True)  # the file is saved once more
    assert not later.solved
    assert len(learner.progress.cards()) == 2


def test_a_night_between_is_no_work(learner, clock, tmp_path):
    path = begin(learner, "sdpa", tmp_path)
    clock.wait(days=3)
    kept = hand_in(learner, "sdpa", path=path)
    assert kept.attempt.seconds == 2 * 60 * BANK.problem("sdpa").minutes


def test_hints_begin_at_what_was_shown_and_cost(learner, clock, tmp_path):
    path = begin(learner, "sdpa", tmp_path)
    with pytest.raises(UsageError, match="after a try"):
        learner.offer("sdpa", "en")
    hand_in(learner, "sdpa", "argmax", path=path, score=60.0)
    titles = []
    for price in (*PRICES, *PRICES):
        offer = learner.offer("sdpa", "zh")
        titles.append(offer.title)
        assert offer.price == price
        learner.take(offer)
        learner.take(offer)  # is paid for once
    assert titles[0] == ""  # the first rung names it
    assert titles[1] == titles[2] != ""
    assert titles[3:] == ["", "", ""]  # then the problem's own
    with pytest.raises(UsageError, match="no further hint"):
        learner.offer("sdpa", "en")
    assert learner.spent("sdpa") == 2 * sum(PRICES)
    assert len(learner.told("sdpa", "en")) == 6
    kept = hand_in(learner, "sdpa", path=path, accepted=True)
    assert kept.attempt.kept == 100 - 2 * sum(PRICES)


def test_a_hint_makes_the_problem_come_back_sooner(learner, clock, tmp_path):
    alone = solve(learner, "softmax", tmp_path, clock, tries=2).due - clock()
    path = begin(learner, "sdpa", tmp_path)
    hand_in(learner, "sdpa", "argmax", path=path)
    learner.take(learner.offer("sdpa", "en"))
    helped = hand_in(learner, "sdpa", path=path, accepted=True).due - clock()
    assert helped < alone


def test_a_misconception_comes_back_in_what_can_show_it(learner, clock, tmp_path):
    solve(learner, "sdpa", tmp_path, clock, "argmax", tries=2)
    assert reviews.of_mistake(SHARED) in learner.progress.cards()
    assert all(one.kind is Kind.NEW for one in proposed(learner, clock))
    clock.wait(days=1)
    first = proposed(learner, clock)[0]
    assert (first.problem, first.kind, first.misconception) == (
        "sdpa",
        Kind.MISCONCEPTION,
        SHARED,
    )
    assert "yesterday" in first.why
    assert "昨天" in proposed(learner, clock, "zh")[0].why
    solve(learner, "sdpa", tmp_path, clock)
    assert learner.progress.card(reviews.of_mistake(SHARED)).rating > 1  # it was not shown again


def test_one_that_another_solved_problem_can_show_brings_that_one(learner, clock, tmp_path):
    other = next(one for one in BANK.ids if one != "sdpa" and SHARED in misconceptions(BANK, one))
    solve(learner, other, tmp_path, clock)
    solve(learner, "sdpa", tmp_path, clock, "argmax", tries=2)
    clock.wait(days=1)
    found = [one for one in proposed(learner, clock) if one.misconception == SHARED]
    assert [one.problem for one in found] == [other]  # done longer ago


def test_what_needs_more_comes_later(learner, clock, tmp_path):
    first = {one.problem for one in proposed(learner, clock)}
    assert {"softmax", "split-merge-heads"} <= first
    assert "sdpa" not in first
    solve(learner, "softmax", tmp_path, clock, tries=2)
    assert "sdpa" in {one.problem for one in proposed(learner, clock)}


def test_a_first_try_lets_what_it_needs_be_skipped(learner, clock, tmp_path):
    solve(learner, "masked-mha", tmp_path, clock)
    assert {"sdpa", "softmax", "split-merge-heads"} <= known(
        summaries(BANK), standings(learner.progress)
    )
    assert not {"sdpa", "softmax"} & {one.problem for one in proposed(learner, clock)}


def test_giving_up_brings_it_back_as_new(learner, clock, tmp_path):
    path = begin(learner, "softmax", tmp_path)
    assert not learner.may_see_solution("softmax")
    hand_in(learner, "softmax", path=path)
    learner.give_up("softmax")
    assert learner.may_see_solution("softmax")
    found = {one.problem: one for one in proposed(learner, clock)}
    assert found["softmax"].kind is Kind.NEW
    assert found["softmax"].why == "You gave it up; now try it on your own."
    learner.begin("softmax", path)
    assert not learner.may_see_solution("softmax")  # it is worked on again
    with pytest.raises(UsageError, match="not begun"):
        learner.give_up("sdpa")


def test_what_was_given_up_was_never_done(learner, clock, tmp_path):
    begin(learner, "softmax", tmp_path)
    learner.give_up("softmax")

    clock.wait(days=3)

    [first, *_] = proposed(learner, clock)
    assert (first.problem, first.kind) == ("softmax", Kind.REVIEW)
    assert first.why == "You gave it up; now try it on your own."
    assert "放弃" in proposed(learner, clock, "zh")[0].why


def test_a_review_has_a_fresh_starter(learner, clock, tmp_path):
    solve(learner, "softmax", tmp_path, clock)
    (tmp_path / "softmax.py").write_text("mine")
    path = learner.begin_afresh("softmax", tmp_path)
    assert path.name == "softmax_2.py"
    assert path.read_text() == BANK.starter("softmax")
    assert (tmp_path / "softmax.py").read_text() == "mine"
    assert learner.progress.open_round("softmax").review
    hand_in(learner, "softmax", path=path)
    other = learner.begin_afresh("softmax", tmp_path)
    assert [one.end for one in learner.progress.rounds()] == [End.SOLVED, None]
    assert len(learner.progress.attempts(learner.round_of(other).id)) == 1  # nothing is forgotten
    learner.begin_afresh("softmax", tmp_path, anew=True)
    assert [one.end for one in learner.progress.rounds()] == [End.SOLVED, End.STARTED_OVER, None]


def test_a_problem_that_left_the_bank_is_passed_over(learner, clock, tmp_path):
    learner.progress.begin("gone", str(tmp_path / "gone.py"), clock(), review=False)
    reviews.rate(learner.progress, "problem:left", reviews.RATINGS["good"], clock())
    reviews.rate(learner.progress, "mistake:left/too", reviews.RATINGS["again"], clock())
    clock.wait(days=90)
    assert {one.problem for one in proposed(learner, clock)} <= set(BANK.ids)


def test_all_is_done_in_the_end(learner, clock, tmp_path):
    order = []
    while found := proposed(learner, clock):
        order.append(found[0].problem)
        assert len(order) <= len(BANK.ids)
        solve(learner, found[0].problem, tmp_path, clock, tries=2)
    assert sorted(order) == BANK.ids
    place = {name: number for number, name in enumerate(order)}
    for name in BANK.ids:
        assert all(place[one] < place[name] for one in BANK.problem(name).requires)


def test_a_solution_shows_ones_mistake_as_a_change():
    shown = solution_of(BANK, "sdpa", {"argmax"}, "en")
    assert "scaled_dot_product_attention" in shown.source
    (slip,) = shown.slips
    assert "-" in slip.difference and "+    weights = torch.softmax" in slip.difference
    assert any("sdpa" in style for style in shown.styles)
