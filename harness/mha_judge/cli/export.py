"""`mha-judge export FORMAT ID…`: what another platform needs to grade with this judge."""

from __future__ import annotations

from pathlib import Path

import click

from mha_judge.bank import Bank, module_name
from mha_judge.cli.context import folded
from mha_judge.cli.language import language_option
from mha_judge.cli.run import REVEAL
from mha_judge.errors import UsageError
from mha_judge.export import FORMATS
from mha_judge.version import __version__

_JUDGE_MB = 1024
"""What the judge itself needs, beside an answer."""


@click.command("export")
@click.argument("format_name", metavar="FORMAT", type=click.Choice(FORMATS))
@click.argument("problem_ids", metavar="ID...", nargs=-1, required=True, type=folded)
@click.option(
    "-o",
    "--output",
    "folder",
    metavar="DIR",
    required=True,
    type=click.Path(path_type=Path),
    help="A new or empty folder.",
)
@click.option(
    "--judge",
    "requirement",
    metavar="WHAT",
    default=f"mha-judge=={__version__}",
    show_default=True,
    help="What the platform installs: a requirement or an address for pip, or a wheel, which is "
    "copied into the export.",
)
@click.option("--torch-index", metavar="URL", help="A further index for pip, with small torches.")
@click.option(
    "--reveal",
    type=click.Choice(REVEAL),
    default="checks",
    show_default=True,
    help="How much a candidate is told there.",
)
@click.option(
    "--image",
    metavar="NAME",
    default=f"mha-judge:{__version__}",
    show_default=True,
    help="prairielearn: what you call the image that you build and push.",
)
@language_option("the statements, and of what a candidate is told")
@click.pass_context
def command(
    ctx: click.Context,
    format_name: str,
    problem_ids: tuple[str, ...],
    folder: Path,
    requirement: str,
    torch_index: str | None,
    reveal: str,
    image: str,
    lang: str,
) -> None:
    """Write what a platform needs to hand answers to this judge, and take its verdict.

    \b
    FORMAT harbor         tasks for agents
           gradescope     autograders to upload
           prairielearn   questions, and an image that grades
           classroom50    autograders of assignments
           github-action  an action, and a workflow with it

    Where the judge has no verdict the platform is told so; it is never 0 points.
    """
    if ctx.obj is not None:
        raise UsageError("--bank: the judge on a platform has the built-in bank only; leave it out")
    bank = Bank.builtin()
    for name in problem_ids:
        bank.require(name)
    wheel = _wheel(requirement)
    from mha_judge.export.folder import write_folder
    from mha_judge.export.platform import Choices, Exercise
    from mha_judge.export.platforms import PLATFORMS
    from mha_judge.report.models import Reveal

    problems = [bank.problem(name) for name in dict.fromkeys(problem_ids)]
    exercises = [
        Exercise(
            problem=problem.id,
            title=problem.title_in(lang),
            statement=bank.task(problem.id, lang) + bank.fine_print(problem.id, lang),
            file=f"{module_name(problem.id)}.py",
            starter=bank.starter(problem.id),
            solution=bank.reference(problem.id).read_text(encoding="utf-8"),
            memory_mb=problem.limits.memory_bytes // 2**20 + _JUDGE_MB,
        )
        for problem in problems
    ]
    choices = Choices(requirement, wheel, torch_index, Reveal(reveal), lang, image)
    write_folder(folder, PLATFORMS[format_name].files(exercises, choices))
    click.echo(f"wrote {folder}; docs/platforms.md says what goes where")


def _wheel(requirement: str) -> Path | None:
    """Return the file that is to be installed; None if pip gets it."""
    if "://" in requirement or not requirement.endswith((".whl", ".tar.gz")):
        if requirement.startswith("-") or not requirement.strip():
            raise UsageError(f"--judge {requirement!r}: name a requirement, an address or a wheel")
        return None
    wheel = Path(requirement)
    if not wheel.is_file():
        raise UsageError(f"--judge {requirement}: there is no such file; build it: `pip wheel .`")
    return wheel
