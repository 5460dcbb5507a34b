"""`mha-judge review`: what is due; with an ID, a fresh starter of it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click
from rich.text import Text

from mha_judge.cli.context import folded
from mha_judge.cli.language import language_option
from mha_judge.cli.learning import json_option, learning, print_json, say_moved
from mha_judge.errors import UsageError
from mha_judge.render.prose import say

_WORDS = {
    "en": {
        "none": "Nothing is due.",
        "next": "The next review is due on {day}.",
        "rated": "{problem} is rated {rating}, and due on {day}.",
        "how": "mha-judge review ID writes a fresh starter",
        "wrote": "wrote {path}; grade it with `mha-judge run {path}`",
    },
    "zh": {
        "none": "没有到期的复习。",
        "next": "下一次复习在 {day}。",
        "rated": "{problem} 评为 {rating}，{day} 到期。",
        "how": "mha-judge review ID 会写出一份新的起始文件",
        "wrote": "已写入 {path}；用 `mha-judge run {path}` 评分",
    },
}


@click.command("review")
@click.argument("problem_id", metavar="[ID]", type=folded, required=False)
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option(
    "--rate",
    "rating",
    type=click.Choice(["again", "hard", "good", "easy"]),
    help="Overrule how the last round of ID was rated.",
)
@language_option("all that is said")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    problem_id: str | None,
    folder: Path,
    rating: str | None,
    lang: str,
    as_json: bool,
) -> None:
    """List what is due; with ID, begin that problem afresh.

    Its starter is written into DIR, the current folder unless it is named, beside your old file.
    """
    from mha_judge.practice.learner import now
    from mha_judge.practice.order import Kind, proposals
    from mha_judge.practice.reviews import RATINGS

    words = _WORDS[lang]
    with learning(ctx) as learner:
        if problem_id is None:
            if rating is not None:
                raise UsageError("name the problem whose rating you overrule")
            of_reviews = (Kind.REVIEW, Kind.MISCONCEPTION)
            found = [
                one
                for one in proposals(learner.bank, learner.progress, now(), lang)
                if one.kind in of_reviews
            ]
            if as_json:
                print_json([asdict(one) for one in found])
                return
            for one in found:
                say(Text.assemble((one.problem, "bold"), f": {one.why}"))
            cards = learner.progress.cards().values()
            if found:
                say(words["how"], "dim")
            else:
                say(words["none"])
                for card in list(cards)[:1]:
                    say(words["next"].format(day=f"{card.due.astimezone():%Y-%m-%d}"))
            return
        learner.bank.require(problem_id)
        if rating is not None:
            due = f"{learner.overrule(problem_id, RATINGS[rating]).astimezone():%Y-%m-%d}"
            if as_json:
                print_json({"problem": problem_id, "rating": rating, "due": due})
            else:
                say(words["rated"].format(problem=problem_id, rating=rating, day=due))
            return
        before = learner.progress.open_round(problem_id)
        path = learner.begin_afresh(problem_id, folder)
        if as_json:
            print_json({"problem": problem_id, "path": str(path)})
        else:
            click.echo(words["wrote"].format(path=path))
            say_moved(before, path, lang)
