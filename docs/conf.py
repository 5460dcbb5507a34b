"""How Sphinx builds the site: `make docs`. Its source is the checkout, so that links between pages
are the same here and where the files are read as they are."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

from mha_judge.version import __version__

project = "mha-judge"
release = __version__
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = [
    "*.md", "docs/**.md", "problems/README.md",
    "problems/*/statement.md", "problems/*/statement.zh.md",
]  # fmt: skip
myst_heading_anchors = 4
suppress_warnings = [
    "toc.not_included",  # statements are reached from the page of problems
    "myst.header",  # an example in a statement may begin below its heading
]
html_theme = "furo"
html_title = "mha-judge"
html_copy_source = False
pygments_style = "default"

_CONTENTS = {
    "Use": [
        "grading", "practising", "interviewing", "rooms", "classes", "library", "service",
        "cluster", "platforms", "evaluations", "sandboxes",
    ],
    "Look up": [
        "/problems/README", "reference/commands", "reference/commands-many", "reference/report",
        "reference/contract", "reference/grading", "benchmarks", "comparison",
    ],
    "Add a problem": [
        "authoring/problem", "authoring/checks", "authoring/mistakes", "authoring/example",
    ],
    "How it works": [
        "internals/architecture", "internals/plan", "internals/rows", "internals/diagnosis",
        "internals/binding", "internals/confinement", "internals/tests",
    ],
    "The project": ["/CONTRIBUTING", "/SECURITY", "/CHANGELOG"],
}  # fmt: skip


def setup(app: Sphinx) -> None:
    """Give the site its contents, which a README read on its own does not need, and its start."""
    app.connect("source-read", _add_contents)
    app.connect("build-finished", _add_start)


def _add_contents(app: Sphinx, name: str, source: list[str]) -> None:
    if name == root_doc:
        for caption, pages in _CONTENTS.items():
            paths = "\n".join(one if one.startswith("/") else f"/docs/{one}" for one in pages)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{paths}\n```\n"


def _add_start(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.name == "html":
        refresh = f'<meta http-equiv="refresh" content="0; url={root_doc}.html">'
        (Path(app.outdir) / "index.html").write_text(
            f"<!doctype html>{refresh}\n", encoding="utf-8"
        )
