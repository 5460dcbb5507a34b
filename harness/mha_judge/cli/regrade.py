"""`mha-judge regrade BUNDLE`: grade the answers of a bundle again, and compare."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mha_judge.cli.context import bank_of
from mha_judge.cli.outputs import check_outputs, write_outputs
from mha_judge.cli.sandbox_options import sandbox_options
from mha_judge.gpu import GpuAccess
from mha_judge.sandbox import SandboxOptions
from mha_judge.sanitising import clean_line

if TYPE_CHECKING:
    from mha_judge.packet.regrade import Regrade, Regraded

_NOT_AGREED = 1


@click.command("regrade")
@click.argument("bundle_path", metavar="BUNDLE", type=click.Path(path_type=Path))
@sandbox_options()
@click.option("--json", "json_path", metavar="PATH", help="Write JSON; `-` is stdout.")
@click.pass_context
def command(
    ctx: click.Context,
    bundle_path: Path,
    sandbox: SandboxOptions,
    gpus: GpuAccess,
    json_path: str | None,
) -> None:
    """Grade every answer of BUNDLE again, and say what differs.

    Each gets its seed of then. BUNDLE is the zip beside a packet's page. It may come from anyone:
    it is not unpacked to disk, and its answers run in the sandbox.

    Exit codes: 0 all answers get the same grade, 1 something differs, 2 the bundle is refused, 3
    and above the judge could not grade an answer.
    """
    outputs = {"--json": json_path}
    check_outputs(outputs)
    from mha_judge.packet.bundle import read

    bank = bank_of(ctx)
    bundle = read(bundle_path)
    for one in bundle.answers:
        bank.require(one.entry.problem)
    with closing(sandbox.open()) as channel, closing(gpus):
        from mha_judge.judge import grade
        from mha_judge.packet.answers import Environment
        from mha_judge.packet.regrade import Regrade, compared
        from mha_judge.scoring.keys import Keys

        keys = Keys(bank, gpus.confinement)
        answers = []
        for one in bundle.answers:
            problem = bank.problem(one.entry.problem)
            now = grade(one.submission, bank, problem, channel, seed=one.entry.seed, gpus=gpus)
            answers.append(compared(one, now, Environment.current(problem.id, keys)))
    agrees = all(answer.agrees for answer in answers)
    found = Regrade(candidate=bundle.candidate, agrees=agrees, answers=answers)
    write_outputs({"--json": lambda: found.model_dump_json(indent=2) + "\n"}, outputs)
    if json_path != "-":
        _show(found)
    ctx.exit(0 if agrees else _NOT_AGREED)


def _show(found: Regrade) -> None:
    click.echo(clean_line(found.candidate))
    for answer in found.answers:
        _show_answer(answer)


def _show_answer(answer: Regraded) -> None:
    outcome = "agrees" if answer.agrees else "differs"
    click.echo(f"{answer.problem}: {outcome}; {answer.verdict}, {answer.score:g} / 100")
    for one in answer.differences:
        click.echo(f"  {one.what}: {one.then} then, {one.now} now")
    for change in answer.changes or ["nothing that it depends on has changed"]:
        click.echo(f"  · {change}")
