"""`mha-judge solution ID`: how it is done, once it is solved or given up."""

from __future__ import annotations

from dataclasses import asdict

import click
from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from mha_judge.cli.learning import json_option, language_option, learning, print_json
from mha_judge.errors import UsageError

_WORDS = {
    "en": {
        "slips": "What your answers had instead, written in the solution's terms",
        "styles": "Also accepted under these names",
        "back": "It is given up, and will be proposed again as if it were new.",
    },
    "zh": {
        "slips": "您的答案与它的差别（用参考答案的写法表示）",
        "styles": "以下名称也会被接受",
        "back": "已放弃；之后会像新题一样再次出现。",
    },
}


@click.command("solution")
@click.argument("problem_id", metavar="ID")
@click.option("--give-up", is_flag=True, help="End your round unsolved, and see it.")
@language_option
@json_option
@click.pass_context
def command(ctx: click.Context, problem_id: str, give_up: bool, lang: str, as_json: bool) -> None:
    """Show the solution of problem ID beside your mistakes.

    It can be seen once the problem is solved, or given up.
    """
    from mha_judge.practice.solution import solution_of

    words = _WORDS[lang]
    with learning(ctx) as learner:
        if give_up:
            learner.give_up(problem_id)
        elif not learner.may_see_solution(problem_id):
            raise UsageError(
                f"{problem_id} is not solved yet; `mha-judge hint {problem_id}` helps, and "
                f"`mha-judge solution {problem_id} --give-up` ends the round and shows it"
            )
        shown = solution_of(learner.bank, problem_id, learner.made(problem_id), lang)
    if as_json:
        print_json(asdict(shown))
        return
    console = Console(highlight=False)
    console.print(Syntax(shown.source, "python", theme="ansi_dark", background_color="default"))
    if shown.slips:
        console.print(Text(f"\n{words['slips']}:", style="bold"))
    for slip in shown.slips:
        console.print(Text(f"\n{slip.title}", style="bold"))
        console.print(Text(slip.explanation))
        console.print(
            Syntax(slip.difference, "diff", theme="ansi_dark", background_color="default")
        )
    if shown.styles:
        console.print(Text(f"\n{words['styles']}:", style="bold"))
        for style in shown.styles:
            console.print(Text(f"  {style}"))
    if give_up:
        console.print(Text(f"\n{words['back']}", style="dim"))
