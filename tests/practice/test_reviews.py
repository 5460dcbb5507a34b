"""When things come back: rated from facts, not on the same day, wherever the clock stands."""

from datetime import timedelta

import pytest
from fsrs import Card, Rating, Scheduler

from mha_judge.practice import reviews
from mha_judge.practice.reviews import Facts, rating_of


@pytest.mark.parametrize(
    ("facts", "rating"),
    [
        (Facts(tries=1, seconds=400, minutes=15, rungs=0, changed_told=False), Rating.Easy),
        (Facts(tries=1, seconds=451, minutes=15, rungs=0, changed_told=False), Rating.Good),
        (Facts(tries=3, seconds=100, minutes=15, rungs=0, changed_told=False), Rating.Good),
        (Facts(tries=4, seconds=100, minutes=15, rungs=0, changed_told=False), Rating.Hard),
        (Facts(tries=1, seconds=100, minutes=15, rungs=1, changed_told=False), Rating.Hard),
        (Facts(tries=1, seconds=100, minutes=15, rungs=3, changed_told=True), Rating.Again),
    ],
)
def test_a_rating_follows_from_facts(facts, rating):
    assert rating_of(facts) is rating


def test_sixty_days_are_due_as_fsrs_says(learner, clock):
    ours = reviews.of_problem("sdpa")
    scheduler = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
    card, ratings, reviewed = Card(), [Rating.Good, Rating.Good, Rating.Again, Rating.Easy], []
    for day in range(60):
        is_due = [one.name for one in reviews.due(learner.progress, clock())] == [ours]
        of_fsrs = card.last_review is not None and card.due.date() <= clock().date()
        assert is_due == of_fsrs
        if is_due or not day:
            rating = ratings[len(reviewed) % 4]
            reviews.rate(learner.progress, ours, rating, clock())
            card, _ = scheduler.review_card(card, rating, clock())
            reviewed.append(day)
        clock.wait(days=1)
    assert 5 < len(reviewed) < 40


def test_nothing_is_due_on_the_day_on_which_it_was_rated(learner, clock):
    reviews.rate(learner.progress, "problem:sdpa", Rating.Again, clock())
    clock.wait(hours=3)
    assert reviews.due(learner.progress, clock()) == []
    clock.wait(days=1)
    assert [card.name for card in reviews.due(learner.progress, clock())] == ["problem:sdpa"]


def test_a_clock_that_was_set_back_breaks_nothing(learner, clock):
    due = reviews.rate(learner.progress, "problem:sdpa", Rating.Good, clock())
    clock.wait(days=-400)
    assert reviews.due(learner.progress, clock()) == []
    assert reviews.rate(learner.progress, "problem:sdpa", Rating.Good, clock()) >= due - timedelta(
        1
    )


def test_a_rating_can_be_overruled(learner, clock):
    easy = reviews.rate(learner.progress, "problem:sdpa", Rating.Easy, clock())
    again = reviews.overrule(learner.progress, "problem:sdpa", Rating.Again)
    assert again < easy
    assert reviews.overrule(learner.progress, "problem:sdpa", Rating.Easy) == easy
    assert reviews.overrule(learner.progress, "problem:gqa", Rating.Easy) is None
