"""`mha-judge sandbox build`: make the image of the container sandbox."""

from __future__ import annotations

import time
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from mha_judge.sandbox.container.settings import CUDA_IMAGE, IMAGE
from mha_judge.sanitising import clean_line


@click.group("sandbox")
def command() -> None:
    """Manage the container sandbox."""


@command.command("build")
@click.option("--tag", help=f"Name of the image; default: {IMAGE}.")
@click.option("--base", metavar="IMAGE", help="Base image; name a digest to pin it.")
@click.option(
    "--wheels",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder with all wheels; default: your pip downloads them.",
)
@click.option(
    "--torch-index", metavar="URL", help="Let the build download everything, with this extra index."
)
@click.option("--network", metavar="MODE", help="Network of the build, with --torch-index.")
@click.option("--gpu", is_flag=True, help="Build the CUDA variant.")
@click.option("--no-cache", "fresh", is_flag=True, help="Do not reuse layers of earlier builds.")
def build_command(
    tag: str | None,
    base: str | None,
    wheels: Path | None,
    torch_index: str | None,
    network: str | None,
    gpu: bool,
    fresh: bool,
) -> None:
    """Build the image for `--sandbox container`."""
    from mha_judge.sandbox.container.build import BASE, BuildFailed, Recipe, Step, build

    recipe = Recipe(
        tag=tag or (CUDA_IMAGE if gpu else IMAGE),
        base=base or BASE,
        wheels=wheels,
        torch_index=torch_index,
        cuda=gpu,
        network=network,
        fresh=fresh,
    )
    console = Console(highlight=False)
    started = time.monotonic()

    def line(progress: Step) -> Text:
        place = f"{progress.step}/{progress.steps} " if progress.steps else ""
        return Text(f"{place}{clean_line(progress.what, 90)}")

    try:
        with console.status("connecting to Docker") as status:
            for progress in build(recipe):
                if console.is_terminal:
                    status.update(line(progress))
                else:
                    console.print(line(progress), soft_wrap=True)
    except BuildFailed as error:
        for printed in error.printed:
            click.echo(clean_line(printed, 300), err=True)
        raise
    seconds = time.monotonic() - started
    console.print(Text(f"built {recipe.tag} in {seconds:.0f} s", style="green"))
