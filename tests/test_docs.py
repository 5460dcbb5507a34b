"""The documentation: what is made from the code is current, and no page is too long to read."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from mha_judge.bank import Bank

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FRONT = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
LIMIT, LIMIT_FRONT = 12_000, 6_000
"""Bytes."""


def generated():
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.pages()


def test_reference_pages_are_what_the_code_says():
    pages = generated()

    written = {
        path.name: path.read_text(encoding="utf-8") for path in (DOCS / "reference").iterdir()
    }

    assert written == pages, "run `make texts`"


def test_every_option_says_what_it_does():
    silent = [
        line
        for name, text in generated().items()
        for line in text.splitlines()
        if line.startswith("- `") and line.endswith("`: ")
    ]

    assert silent == []


@pytest.mark.parametrize("name", FRONT)
def test_front_pages_are_one_screen_and_a_half(name):
    assert (ROOT / name).stat().st_size <= LIMIT_FRONT


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: path.stem)
def test_pages_are_short(path):
    assert path.stat().st_size <= LIMIT


def test_readme_names_every_problem():
    text = (ROOT / "README.md").read_text(encoding="utf-8")

    assert [one for one in Bank.builtin().ids if f"`{one}`" not in text] == []
