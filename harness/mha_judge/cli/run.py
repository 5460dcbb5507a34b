"""`mha-judge run FILE`: grade one file."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mha_judge.cli.answer_options import (
    chosen_problem,
    problem_option,
    verdict_only_option,
)
from mha_judge.cli.context import bank_of
from mha_judge.cli.language import language_option
from mha_judge.cli.learning import Elsewhere, keep, no_progress_option, say_kept
from mha_judge.cli.outputs import check_outputs, write_outputs
from mha_judge.cli.sandbox_options import sandbox_options
from mha_judge.errors import SubmissionUnreadable, UsageError
from mha_judge.export import FORMATS
from mha_judge.gpu import GpuAccess
from mha_judge.sandbox import SandboxOptions
from mha_judge.submission import Submission
from mha_judge.syntax import syntax_error

if TYPE_CHECKING:
    from mha_judge.bank import Bank
    from mha_judge.report.models import Report, Reveal

REVEAL = ("score", "checks", "hints", "full")


@click.command("run")
@click.argument("file", type=click.Path(path_type=Path))
@problem_option("FILE; default: its `# problem:` line, else its name")
@sandbox_options()
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="Repeat an earlier report.")
@click.option(
    "--reveal",
    type=click.Choice(REVEAL),
    show_default="full; checks in a file that `start` wrote, until it is solved or given up; "
    "score with --verdict-only",
    help="How much the terminal report tells, and a platform.",
)
@language_option("the terminal report, and of what a platform is told")
@click.option("-v", "--verbose", is_flag=True, help="Show every check, with its points.")
@click.option(
    "--json", "json_path", metavar="PATH", help="Write the report as JSON; `-` is stdout."
)
@click.option("--junit", "junit_path", metavar="PATH", help="Write JUnit XML; `-` is stdout.")
@click.option(
    "--as",
    "as_",
    metavar="FORMAT PATH",
    type=(click.Choice(FORMATS), str),
    help="Write the verdict as a platform takes it, in place of the terminal report; what cannot "
    "be read has 0 points. `export` makes what calls this there.",
)
@click.option(
    "--lines",
    is_flag=True,
    help="Print what is wrong as FILE:LINE:COLUMN: error: TEXT, in place of the terminal report, "
    "for editors.",
)
@verdict_only_option
@no_progress_option
@click.option("--only", metavar="CHECK", multiple=True, help="Run only this check (repeatable).")
@click.pass_context
def command(
    ctx: click.Context,
    file: Path,
    problem_id: str | None,
    sandbox: SandboxOptions,
    gpus: GpuAccess,
    seed: int | None,
    reveal: str | None,
    lang: str,
    verbose: bool,
    json_path: str | None,
    junit_path: str | None,
    as_: tuple[str, str] | None,
    lines: bool,
    verdict_only: bool,
    no_progress: bool,
    only: tuple[str, ...],
) -> None:
    """Grade FILE; exit 0 if it is accepted, 1 if it is not.

    An answer in a file that `start` wrote is kept among what you have done.
    """
    paths = {"--json": json_path, "--junit": junit_path}
    check_outputs({**paths, "--as": as_ and as_[1]})
    bank = bank_of(ctx)

    def grade() -> tuple[Submission, Report]:
        submission = Submission.read(file)
        name = chosen_problem(bank, problem_id, submission)
        options = seed, only, verdict_only
        return submission, _graded(submission, bank, name, sandbox, gpus, *options)

    def write(report: Report) -> None:
        from mha_judge.render.report import junit

        texts = {
            "--json": lambda: report.model_dump_json(indent=2) + "\n",
            "--junit": lambda: junit.render(report),
        }
        write_outputs(texts, paths)

    if as_ is not None:
        if problem_id is None:
            raise UsageError("--as needs --problem: who wrote FILE must not choose it")
        if only:
            raise UsageError("--as hands a grade back, and --only leaves checks out; drop one")
        from mha_judge.export.hand_back import hand_back
        from mha_judge.judge.unparsed import unread
        from mha_judge.report.models import Reveal

        problem = bank.problem(problem_id)

        def answer() -> tuple[Submission | None, Report]:
            try:
                submission, report = grade()
            except SubmissionUnreadable as error:  # its author's doing, not the judge's
                submission, report = None, unread(problem, file, error)
            write(report)
            return submission, report

        level = Reveal(reveal) if reveal else _usual_level(verdict_only)
        report = hand_back(as_[0], Path(as_[1]), answer, bank, level, lang)
        ctx.exit(report.verdict.exit_code)
    submission, report = grade()
    kept = None if no_progress or only else keep(ctx, submission, report)
    write(report)
    if "-" not in paths.values():
        from rich.console import Console

        from mha_judge.render.report import terminal
        from mha_judge.report.models import Reveal
        from mha_judge.report.translation import translated

        told = None if kept is None or isinstance(kept, Elsewhere) else kept.told
        usual = _usual_level(verdict_only) if told is None else Reveal.CHECKS
        level = Reveal(reveal) if reveal else usual
        if lines:
            from mha_judge.export.shown import places

            for place in places(report, submission, bank, level, lang):
                told_there = place.message.replace("\n", ": ")
                click.echo(f"{file}:{place.line}:1: error: {told_there}")
            ctx.exit(report.verdict.exit_code)
        console = Console(highlight=False)
        shown = translated(report, bank, lang)
        terminal.show(shown, console, level, every_check=verbose, named=told, language=lang)
        if kept is not None:
            say_kept(kept, report.problem, lang)
    ctx.exit(report.verdict.exit_code)


def _usual_level(verdict_only: bool) -> Reveal:
    """Return how much is told where `--reveal` does not say it."""
    from mha_judge.report.models import Reveal

    return Reveal.SCORE if verdict_only else Reveal.FULL


def _graded(
    submission: Submission,
    bank: Bank,
    name: str,
    sandbox: SandboxOptions,
    gpus: GpuAccess,
    seed: int | None,
    only: tuple[str, ...],
    verdict_only: bool,
) -> Report:
    if syntax_error(submission.source) is not None:
        from mha_judge.judge import fresh_seed, unparsed

        seed = fresh_seed() if seed is None else seed
        report = unparsed(submission, bank.problem(name), seed=seed, verdict_only=verdict_only)
        if report is not None:
            return report
    # The supervisor starts before anything large is imported here: the imports overlap.
    with closing(sandbox.open()) as channel, closing(gpus):
        from mha_judge.judge import grade

        return grade(
            submission,
            bank,
            bank.problem(name),
            channel,
            seed=seed,
            only=only,
            verdict_only=verdict_only,
            gpus=gpus,
        )
