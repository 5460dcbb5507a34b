"""`mha-judge hint ID`: the next rung of the ladder, for its price."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from mha_judge.cli.context import folded
from mha_judge.cli.language import language_option
from mha_judge.cli.learning import json_option, learning, print_json
from mha_judge.render.prose import confirmed, say

_WORDS = {
    "en": {
        "question": "a question to ask yourself",
        "where": "where to look",
        "change": "what to change",
        "for": "for “{title}”",
        "mistake": "for what your last answer shows",
        "problem": "for the problem as a whole",
        "offer": "Hint {rung} of {rungs} {what}: {tells}. It costs {price:g} points; hints "
        "have cost {spent:g} so far.",
        "ask": "Show it?",
        "how": "Pass --yes to see it.",
    },
    "zh": {
        "question": "一个值得自问的问题",
        "where": "该看哪里",
        "change": "该改什么",
        "for": "针对“{title}”的",
        "mistake": "针对您上次作答中的问题的",
        "problem": "针对整道题的",
        "offer": "{what}第 {rung} 条提示（共 {rungs} 条）：{tells}。价格 {price:g} 分；"
        "此前的提示共用去 {spent:g} 分。",
        "ask": "要看吗？",
        "how": "加上 --yes 即可看到。",
    },
}


@click.command("hint")
@click.argument("problem_id", metavar="ID", type=folded)
@click.option("-y", "--yes", is_flag=True, help="Take it without being asked.")
@language_option("all that is said")
@json_option
@click.pass_context
def command(ctx: click.Context, problem_id: str, yes: bool, lang: str, as_json: bool) -> None:
    """Offer the next hint for problem ID, and name its price.

    It costs points of your round. There are three for each mistake that your last answer showed,
    and three for the problem: a question, where to look, what to change. The first comes after a
    try.
    """
    words = _WORDS[lang]
    with learning(ctx) as learner:
        offer = learner.offer(problem_id, lang)
        spent = learner.spent(problem_id)
        if as_json:
            told = {"text": learner.take(offer)} if yes else {}
            hidden = {"text"} if offer.title or not offer.mistake else {"text", "mistake"}
            shown = {name: value for name, value in asdict(offer).items() if name not in hidden}
            print_json({**shown, "tells": offer.tells, "spent": spent, **told})
            return
        which = "for" if offer.title else "mistake" if offer.mistake else "problem"
        what = words[which].format(title=offer.title)
        say(
            words["offer"].format(
                rung=offer.rung + 1, rungs=offer.rungs, what=what, tells=words[offer.tells],
                price=offer.price, spent=spent,
            )
        )  # fmt: skip
        if not yes:
            if not sys.stdin.isatty():
                say(words["how"])
                return
            if not confirmed(words["ask"], lang):
                return
        say(learner.take(offer), "bold")
