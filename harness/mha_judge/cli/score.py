"""`mha-judge score PATH…`: grade many candidates' answers, and rank them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mha_judge.cli.answer_options import (
    answer_options,
    dask_option,
    verdict_only_option,
)
from mha_judge.cli.context import INTERRUPTED, bank_of
from mha_judge.cli.language import language_option
from mha_judge.cli.outputs import check_outputs, write_outputs
from mha_judge.cli.run import REVEAL
from mha_judge.errors import JudgeError, UsageError, WorkforceLost
from mha_judge.extras import require_extra
from mha_judge.gpu import GpuAccess
from mha_judge.sandbox import SandboxOptions

if TYPE_CHECKING:
    from mha_judge.bank import Bank
    from mha_judge.pool import Workforce


@click.command("score")
@answer_options
@click.option(
    "--results",
    "results_path",
    metavar="PATH",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("results.jsonl"),
    show_default=True,
    help="File in which each result is saved at once.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Go on with --results: grade only what is missing or has changed.",
)
@click.option(
    "--weight",
    "weights",
    metavar="ID=N",
    multiple=True,
    help="Weight of a problem in the total (repeatable); default: its points.",
)
@click.option("--csv", "csv_path", metavar="PATH", help="Write CSV; `-` is stdout.")
@click.option("--json", "json_path", metavar="PATH", help="Write JSON; `-` is stdout.")
@click.option("--junit", "junit_path", metavar="PATH", help="Write JUnit XML; `-` is stdout.")
@click.option("--html", "html_path", metavar="PATH", help="Write an HTML page with every answer.")
@click.option(
    "--candidate-dir",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write one JSON file per candidate, with what that candidate may see.",
)
@click.option(
    "--reveal",
    type=click.Choice(REVEAL),
    default="checks",
    show_default=True,
    help="How much the files in --candidate-dir tell.",
)
@click.option(
    "--packets",
    "packets_dir",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write a packet for the interviewer about each candidate, as `packet` does.",
)
@dask_option
@language_option("the general questions in packets")
@verdict_only_option
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[Path, ...],
    problem_id: str | None,
    sandbox: SandboxOptions,
    gpus: GpuAccess,
    jobs: int,
    seed: int | None,
    results_path: Path,
    resume: bool,
    weights: tuple[str, ...],
    csv_path: str | None,
    json_path: str | None,
    junit_path: str | None,
    html_path: str | None,
    candidate_dir: Path | None,
    reveal: str,
    packets_dir: Path | None,
    dask: str | None,
    lang: str,
    verdict_only: bool,
) -> None:
    """Grade every answer under PATH, and rank the candidates.

    \b
    PATH is a folder or a file. Which candidate a file belongs to:
      PATH/alice/sdpa.py   each folder in PATH belongs to one candidate
      alice/sdpa.py        with PATH alice, a file named after a problem: alice
      PATH/bob.py          otherwise each file belongs to its own candidate

    The `# problem: ID` line names the problem, else the file's name, as `bob_sdpa.py` does, else
    what it defines, else --problem. Names that begin with `.` or `_` are ignored.

    Exit codes: 0 every answer has a verdict, accepted or not; 2 wrong usage; 3 and above somebody
    was not graded, and has no rank; 130 interrupted, continue with --resume.
    """
    outputs = {"--csv": csv_path, "--json": json_path, "--junit": junit_path, "--html": html_path}
    check_outputs({**outputs, "--results": str(results_path)})
    _keep_apart(packets_dir, candidate_dir)
    if packets_dir is not None and verdict_only:
        raise UsageError("--packets needs what --verdict-only leaves out; pass one of them")
    bank = bank_of(ctx)
    for name in [problem_id] if problem_id is not None else []:
        bank.require(name)
    from rich.console import Console

    from mha_judge.judge import fresh_seed
    from mha_judge.packet.answers import from_results
    from mha_judge.packet.folder import make_folder
    from mha_judge.render.packet.files import write
    from mha_judge.render.score import candidates, csv, html, junit, terminal
    from mha_judge.render.score.progress import watcher
    from mha_judge.report.models import Reveal
    from mha_judge.scoring.answers import discover
    from mha_judge.scoring.keys import Keys
    from mha_judge.scoring.results import Results
    from mha_judge.scoring.score import due, grade_all, scoreboard

    weighed = dict(_weight(text) for text in weights)
    found = discover(paths, bank, problem_id)
    for name in {*found.problems, *weighed}:
        bank.problem(name)  # a broken one is told before anything is graded
    if packets_dir is not None:
        make_folder(packets_dir)
    opened = Results.open(results_path, resume=resume, seed=seed, fresh_seed=fresh_seed())
    with closing(opened) as results:
        try:
            with _workforce(dask, bank, sandbox, gpus, jobs) as (workforce, gpu):
                waiting = due(found, bank, results, gpu, gpus.confinement, verdict_only)
                with watcher(Console(stderr=True, highlight=False), len(waiting)) as progress:
                    grade_all(waiting, bank, workforce, results, progress, verdict_only)
        except KeyboardInterrupt:
            click.echo(f"mha-judge: interrupted; continue {results_path} with --resume", err=True)
            ctx.exit(INTERRUPTED)
        except WorkforceLost as error:
            raise WorkforceLost(f"{error}; continue {results_path} with --resume") from error
        board = scoreboard(found, bank, results, weighed)
        write_outputs(
            {
                "--csv": lambda: csv.render(board),
                "--json": lambda: board.model_dump_json(indent=2) + "\n",
                "--junit": lambda: junit.render(board),
                "--html": lambda: html.render(board, found, results),
            },
            outputs,
        )
        if candidate_dir is not None:
            candidates.write(board, results, candidate_dir, Reveal(reveal))
        if packets_dir is not None:
            keys = Keys(bank, gpus.confinement)
            write(from_results(found, results.known.values(), keys), bank, packets_dir, lang)
    if "-" not in outputs.values():
        terminal.show(board, Console(highlight=False))
    failed = [failure.fault.exit_code for failure in board.failures]
    failed += [JudgeError.exit_code for row in board.rows if row.rank is None]
    ctx.exit(max(JudgeError.exit_code, *failed) if failed else 0)


@contextmanager
def _workforce(
    dask: str | None, bank: Bank, sandbox: SandboxOptions, gpus: GpuAccess, jobs: int
) -> Iterator[tuple[Workforce, bool]]:
    """Give what grades, and whether it can reach a GPU."""
    if dask is None:
        from mha_judge.pool import Pool

        with closing(Pool(bank, sandbox.open, jobs, gpus=gpus)) as pool:
            yield pool, gpus.why_not() is None
        return
    require_extra("dask", "a Dask cluster")
    from mha_judge.cluster import Cluster

    def tell(what: str) -> None:
        click.echo(f"mha-judge: {what}", err=True)

    with closing(Cluster(dask, bank, sandbox, tell)) as cluster:
        yield cluster, cluster.has_gpu


def _keep_apart(packets: Path | None, shown: Path | None) -> None:
    """Refuse packets where candidates get their files: packets hold answers."""
    if packets is None or shown is None:
        return
    if packets.resolve().is_relative_to(shown.resolve()):
        raise UsageError(
            "--packets would lie where --candidate-dir does, which candidates may see; "
            "name a folder outside it"
        )


def _weight(text: str) -> tuple[str, float]:
    problem, _, number = text.partition("=")
    try:
        weight = float(number)
    except ValueError:
        weight = math.nan
    if not problem or not math.isfinite(weight) or weight < 0:
        raise UsageError(f"--weight {text}: write ID=N with a number of 0 or more, such as sdpa=2")
    return problem, weight
