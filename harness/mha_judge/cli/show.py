"""`mha-judge show ID`: a problem's statement, or what an interviewer may ask after it."""

from __future__ import annotations

import click
from rich.console import Console
from rich.markdown import Markdown

from mha_judge.bank import Bank
from mha_judge.cli.context import bank_of
from mha_judge.problem import Problem

_WORDS = {
    "en": {
        "requires": "Before this one",
        "after": "Go on with",
        "questions": "Follow-up questions",
    },
    "zh": {"requires": "先做", "after": "接着做", "questions": "追问"},
}


@click.command("show")
@click.argument("problem_id", metavar="ID")
@click.option("--lang", type=click.Choice(["en", "zh"]), default="en", help="Language of the text.")
@click.option(
    "--interviewer", is_flag=True, help="Show follow-up questions and good answers instead."
)
@click.option("--raw", is_flag=True, help="Print the Markdown source.")
@click.pass_context
def command(ctx: click.Context, problem_id: str, lang: str, interviewer: bool, raw: bool) -> None:
    """Show the statement of problem ID."""
    bank = bank_of(ctx)
    problem = bank.problem(problem_id)
    read = bank.follow_ups if interviewer else bank.statement
    text = read(problem.id, lang)
    if raw:
        click.echo(text, nl=False)
        return
    if interviewer:
        title = problem.title if lang == "en" else problem.title_zh
        text = f"# {title}: {_WORDS[lang]['questions'].lower()}\n\n{text}"
    console = Console(width=min(Console().width, 100))
    console.print(Markdown(text))
    for name, ids in _neighbours(bank, problem).items():
        console.print(f"\n{_WORDS[lang][name]}: {', '.join(ids)}", style="dim", highlight=False)


def _neighbours(bank: Bank, problem: Problem) -> dict[str, list[str]]:
    """Return the problems of this bank to do before and after, where there are any."""
    named = {"requires": problem.requires, "after": problem.after}
    found = {name: [one for one in ids if one in bank.ids] for name, ids in named.items()}
    return {name: ids for name, ids in found.items() if ids}
