"""`mha-judge packet PATH…`: what an interviewer takes along, for each candidate."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mha_judge.cli.answer_options import answer_options
from mha_judge.cli.context import INTERRUPTED, bank_of
from mha_judge.cli.language import language_option
from mha_judge.errors import JudgeError
from mha_judge.gpu import GpuAccess
from mha_judge.sandbox import SandboxOptions
from mha_judge.sanitising import clean_line

if TYPE_CHECKING:
    from mha_judge.bank import Bank
    from mha_judge.scoring.answers import HandedIn
    from mha_judge.scoring.keys import Keys
    from mha_judge.scoring.models import Result


@click.command("packet")
@answer_options
@click.option(
    "-o",
    "--output",
    "folder",
    metavar="DIR",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the packets.",
)
@click.option(
    "--marks",
    "notes_paths",
    metavar="PATH",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Marks and notes that a packet's page saved, to be written into the new one "
    "(repeatable, one file for each candidate).",
)
@language_option("the general questions in packets")
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[Path, ...],
    folder: Path,
    notes_paths: tuple[Path, ...],
    problem_id: str | None,
    lang: str,
    sandbox: SandboxOptions,
    gpus: GpuAccess,
    jobs: int,
    seed: int | None,
) -> None:
    """Write a packet for an interviewer about each candidate.

    PATH is a file or folder with answers, which are graded, as `score` takes them; or a report that
    `run --json` wrote. A packet is a page to read, type into and print, the same as JSON, and a zip
    with the evidence, which `regrade` takes.

    Exit codes: 0 every answer has a verdict, accepted or not; 2 wrong usage; 3 and above the
    judge could not grade some answers.
    """
    bank = bank_of(ctx)
    if problem_id is not None:
        bank.require(problem_id)
    from mha_judge.judge import fresh_seed
    from mha_judge.packet.answers import from_report, from_results
    from mha_judge.packet.folder import make_folder
    from mha_judge.packet.notes import read_notes
    from mha_judge.render.packet.files import write
    from mha_judge.scoring.answers import discover
    from mha_judge.scoring.keys import Keys

    reports = [path for path in paths if path.suffix == ".json" and not path.is_dir()]
    files = [path for path in paths if path not in reports]
    answers = [from_report(path, bank) for path in reports]
    failed: list[int] = []
    found = discover(files, bank, problem_id) if files else None
    candidates = {one.candidate for one in (*answers, *(found.answers if found else ()))}
    notes = read_notes(notes_paths, candidates)
    make_folder(folder)
    if found is not None:
        keys = Keys(bank, gpus.confinement)
        seed = fresh_seed() if seed is None else seed
        try:
            results = _graded(found, bank, keys, sandbox, gpus, jobs, seed)
        except KeyboardInterrupt:
            click.echo("mha-judge: interrupted; no packet was written", err=True)
            ctx.exit(INTERRUPTED)
        answers += from_results(found, results, keys)
        failed = [result.fault.exit_code for result in results if result.fault is not None]
        for left in found.left_out:
            click.echo(f"left out: {left.path}: {left.reason}", err=True)
    for answer in answers:
        if answer.no_source:
            whose = clean_line(f"{answer.candidate} on {answer.problem}")
            click.echo(f"no source: {whose}: {answer.no_source}", err=True)
    for page in write(answers, bank, folder, lang, notes):
        click.echo(f"wrote {clean_line(str(page))}")
    ctx.exit(max(JudgeError.exit_code, *failed) if failed else 0)


def _graded(
    found: HandedIn,
    bank: Bank,
    keys: Keys,
    sandbox: SandboxOptions,
    gpus: GpuAccess,
    jobs: int,
    seed: int,
) -> Sequence[Result]:
    """Return what comes of each answer, and say how far it is."""
    from rich.console import Console

    from mha_judge.pool import Pool
    from mha_judge.render.score.progress import watcher
    from mha_judge.scoring.score import Due, graded

    for name in found.problems:
        bank.problem(name)  # a broken one is told before anything is graded
    waiting = [Due(answer, keys.of(answer)) for answer in found.answers]
    results = []
    with (
        closing(Pool(bank, sandbox.open, min(jobs, len(waiting)), gpus=gpus)) as pool,
        watcher(Console(stderr=True, highlight=False), len(waiting)) as progress,
    ):
        for result in graded(waiting, bank, pool, seed):
            progress(result)
            results.append(result)
    return results
