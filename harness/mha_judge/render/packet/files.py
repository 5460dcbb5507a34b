"""The files of packets: for each candidate a page, the same as JSON, and the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from mha_judge.bank import Bank
from mha_judge.errors import UsageError
from mha_judge.packet.answers import Answer, by_candidate
from mha_judge.packet.build import build
from mha_judge.packet.bundle import pack
from mha_judge.packet.models import Notes
from mha_judge.render.packet import html
from mha_judge.render.score.candidates import file_name


def write(
    answers: Iterable[Answer],
    bank: Bank,
    folder: Path,
    language: str,
    notes: Mapping[str, Notes] | None = None,
) -> list[Path]:
    """Write the packet of every candidate, and return the pages.

    Args:
        answers: Graded, of any number of candidates.
        bank: Whose problems they answer.
        folder: Where the files go; see `make_folder`.
        language: `en` or `zh`: of the general questions.
        notes: By candidate, what an interviewer has typed into the page before.

    Raises:
        UsageError: If a candidate has two answers to a problem, or the folder cannot be written.
        BankError: If the bank is broken.
    """
    return [
        _write_one(candidate, group, bank, folder, language, (notes or {}).get(candidate))
        for candidate, group in by_candidate(answers).items()
    ]


def _write_one(
    candidate: str,
    answers: list[Answer],
    bank: Bank,
    folder: Path,
    language: str,
    notes: Notes | None,
) -> Path:
    packet = build(candidate, answers, bank, language, notes)
    bundle = pack(candidate, answers)
    evidence = folder / file_name(candidate, ".zip")
    named = packet.model_copy(update={"bundle": evidence.name if bundle is not None else ""})
    page = folder / file_name(candidate, ".html")
    try:
        page.write_text(html.render(named), encoding="utf-8")
        text = named.model_dump_json(indent=2) + "\n"
        (folder / file_name(candidate)).write_text(text, encoding="utf-8")
        if bundle is not None:
            evidence.write_bytes(bundle)
        else:
            evidence.unlink(missing_ok=True)  # one of an earlier run would be taken for this one's
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written ({error.strerror}); name another folder"
        ) from error
    return page
