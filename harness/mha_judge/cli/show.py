"""`mha-judge show ID`: a problem's statement, or what an interviewer may ask after it."""

from __future__ import annotations

import click
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Markdown
from rich.syntax import Syntax

from mha_judge.bank import Bank
from mha_judge.bank.problem import Problem
from mha_judge.cli.context import bank_of, folded
from mha_judge.cli.language import language_option

_WORDS = {
    "en": {
        "more": "More, and what is graded up to where: mha-judge show {id} --all",
        "requires": "Before this one",
        "after": "Go on with",
        "questions": "Follow-up questions",
    },
    "zh": {
        "more": "细则与评分范围：mha-judge show {id} --all",
        "requires": "先做",
        "after": "接着做",
        "questions": "追问",
    },
}


class _Code(CodeBlock):
    """A block of code with no empty lines around it but those that set paragraphs apart."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        yield Syntax(code, self.lexer_name, theme=self.theme, word_wrap=True, padding=(0, 2))


class _Text(Markdown):
    """A statement, as tight as it can be read."""

    elements = {**Markdown.elements, "fence": _Code, "code_block": _Code}  # noqa: RUF012 - rich's


@click.command("show")
@click.argument("problem_id", metavar="ID", type=folded)
@language_option("the text")
@click.option("--all", "whole", is_flag=True, help="Show the fine print too.")
@click.option(
    "--interviewer", is_flag=True, help="Show follow-up questions and good answers instead."
)
@click.option("--raw", is_flag=True, help="Print the Markdown source, whole.")
@click.pass_context
def command(
    ctx: click.Context, problem_id: str, lang: str, whole: bool, interviewer: bool, raw: bool
) -> None:
    """Show what problem ID asks."""
    bank = bank_of(ctx)
    problem = bank.problem(problem_id)
    if raw:
        read = bank.follow_ups if interviewer else bank.statement
        click.echo(read(problem.id, lang), nl=False)
        return
    words = _WORDS[lang]
    notes = [f"{words[name]}: {', '.join(ids)}" for name, ids in _neighbours(bank, problem).items()]
    if interviewer:
        questions = bank.follow_ups(problem.id, lang)
        text = f"# {problem.title_in(lang)}: {words['questions'].lower()}\n\n{questions}"
    else:
        text, fine_print = bank.task(problem.id, lang), bank.fine_print(problem.id, lang)
        if whole:
            text = f"{text}\n{fine_print}"
        elif fine_print:
            notes.insert(0, words["more"].format(id=problem.id))
    console = Console(width=min(Console().width, 100))
    console.print(_Text(text))
    console.print()
    for note in notes:
        console.print(note, style="dim", highlight=False)


def _neighbours(bank: Bank, problem: Problem) -> dict[str, list[str]]:
    """Return the problems of this bank to do before and after, where there are any."""
    named = {"requires": problem.requires, "after": problem.after}
    found = {name: [one for one in ids if one in bank.ids] for name, ids in named.items()}
    return {name: ids for name, ids in found.items() if ids}
