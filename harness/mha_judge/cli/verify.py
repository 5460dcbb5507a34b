"""`mha-judge verify [ID…]`: certify a bank."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from queue import SimpleQueue

import click

from mha_judge.certify.draw import draw
from mha_judge.cli.answer_options import jobs_option
from mha_judge.cli.context import bank_of
from mha_judge.cli.outputs import check_outputs, write_outputs
from mha_judge.cli.sandbox_options import sandbox_options
from mha_judge.gpu import GpuAccess
from mha_judge.sandbox import SandboxOptions


@click.command("verify")
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option(
    "--seeds",
    type=click.IntRange(1, 1000),
    default=3,
    show_default=True,
    help="Number of seeds under which reference and mistakes are graded.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**53 - 1001),
    help="The first seed; default: random.",
)
@click.option(
    "--mutants/--no-mutants",
    default=True,
    show_default=True,
    help="Grade small changes to the reference as well.",
)
@click.option(
    "--since",
    metavar="REV",
    help="Try all only of what git sees changed since this commit, and an eleventh of the rest.",
)
@click.option(
    "--turn",
    type=click.IntRange(0),
    help="Which eleventh, as an earlier run names it; default: another one after every commit.",
)
@sandbox_options("jail")
@jobs_option("files", most=64)
@click.option("--json", "json_path", metavar="PATH", help="Write JSON; `-` is stdout.")
@click.option("--junit", "junit_path", metavar="PATH", help="Write JUnit XML; `-` is stdout.")
@click.option("--html", "html_path", metavar="PATH", help="Write the kill matrix as an HTML page.")
@click.pass_context
def command(
    ctx: click.Context,
    ids: tuple[str, ...],
    seeds: int,
    seed: int | None,
    mutants: bool,
    since: str | None,
    turn: int | None,
    sandbox: SandboxOptions,
    gpus: GpuAccess,
    jobs: int,
    json_path: str | None,
    junit_path: str | None,
    html_path: str | None,
) -> None:
    """Check that references pass and known mistakes fail.

    Exit codes: 0 all problems are certified, 1 one is not, 3 and above the judge failed.
    """
    paths = {"--json": json_path, "--junit": junit_path, "--html": html_path}
    check_outputs(paths)
    bank = bank_of(ctx)
    for problem_id in ids:
        bank.require(problem_id)
    drawn = None
    if since is not None or turn is not None:
        drawn = draw(bank, ids or bank.ids, since, turn)
    from rich.console import Console

    from mha_judge.certify.certify import certify, seeds_from
    from mha_judge.certify.grades import Graders
    from mha_judge.certify.models import Certificate, Certification
    from mha_judge.render.verify import html, junit, terminal

    console = Console(highlight=False, stderr="-" in paths.values())
    certificates: list[Certificate] = []
    chosen = ids or bank.ids
    at_once = min(jobs, len(chosen))
    with ExitStack() as stack, console.status("starting") as status:
        # each problem has processes of its own: what the reference gives is remembered in them
        every = [Graders(bank, sandbox, jobs // at_once, gpus) for _ in range(at_once)]
        free: SimpleQueue[Graders] = SimpleQueue()
        for graders in every:
            stack.enter_context(closing(graders))
            free.put(graders)

        def certificate(problem_id: str) -> Certificate:
            def progress(what: str, done: int, of: int) -> None:
                status.update(f"{problem_id}: {what} {done}/{of}")

            graders = free.get()
            try:
                return certify(
                    bank,
                    problem_id,
                    graders,
                    seeds_from(seed, seeds),
                    with_mutants=mutants,
                    draw=drawn,
                    progress=progress,
                )
            finally:
                free.put(graders)

        with ThreadPoolExecutor(at_once) as threads:
            try:
                for done in threads.map(certificate, chosen):
                    certificates.append(done)
                    terminal.show_problem(done, console)
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                for graders in every:
                    graders.close()
                raise
    certification = Certification(problems=certificates)
    if drawn is not None:
        certification.draw = str(drawn)
    write_outputs(
        {
            "--json": lambda: certification.model_dump_json(indent=2) + "\n",
            "--junit": lambda: junit.render(certification),
            "--html": lambda: html.render(certification),
        },
        paths,
    )
    terminal.show_end(certification, console)
    ctx.exit(0 if certification.certified else 1)
