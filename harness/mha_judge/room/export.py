"""What an interviewer takes along from a room: its recording, and a packet of its answers."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from pathlib import Path

from mha_judge.bank import Bank
from mha_judge.browser.pages import PROGRAM, STYLE, static_text
from mha_judge.errors import UsageError
from mha_judge.packet.answers import Answer, Environment
from mha_judge.packet.folder import make_folder
from mha_judge.packet.models import Notes
from mha_judge.render.packet.files import write
from mha_judge.render.page import page
from mha_judge.report.models import Report
from mha_judge.room.changes import Text
from mha_judge.room.log import Event
from mha_judge.room.room import Room
from mha_judge.submission import Submission

RECORDING = "recording.html"


def export(room_id: str, events: Sequence[Event], bank: Bank, folder: Path, who: str) -> list[Path]:
    """Write a room's recording, and the packet of what was handed in; return the pages.

    Args:
        room_id: Its id.
        events: What happened there.
        bank: Whose problems they are.
        folder: Where the files go; it is made if it is missing.
        who: The candidate's name, for the packet.

    Raises:
        UsageError: If the folder cannot be written.
        BankError: If the bank is broken.
    """
    make_folder(folder)
    pages = [_recording(events, folder / RECORDING)]
    room = Room(room_id, bank.starter)
    answers: dict[str, Answer] = {}
    for event in events:  # the last one that was graded counts
        room.follow([event])
        if event.kind == "graded" and event.body["report"] is not None:
            answer = _answer(room, event, who)
            answers[answer.problem] = answer
    if answers:
        written = [note for note in room.notes if note.kind == "note"]
        lines = [f"{_time(note.at)} {note.body['text']}" for note in written]
        notes = Notes(candidate=who, summary="\n".join(lines))
        pages += write(answers.values(), bank, folder, room.language, {who: notes})
    return pages


def _answer(room: Room, event: Event, who: str) -> Answer:
    run = room.runs[event.body["grade"]]
    sheet = room.sheets[run.problem]
    handed_in = Text(sheet.begun_with)
    for _, parts in sheet.updates[: run.version]:
        handed_in.change(parts)
    graded_with = event.body["graded_with"]
    return Answer(
        candidate=who,
        problem=run.problem,
        path=f"{run.problem}.py",
        submission=Submission.of_text(handed_in.as_source),
        report=Report.model_validate_json(event.body["report"]),
        graded_with=None if graded_with is None else Environment.model_validate(graded_with),
    )


def _time(at: float) -> str:
    return f"{datetime.datetime.fromtimestamp(at).astimezone():%H:%M}"


def _recording(events: Sequence[Event], path: Path) -> Path:
    """Write a page that plays what happened, and asks nobody for anything."""
    text = page(
        "mha_judge.room",
        "recording.html",
        program=static_text(PROGRAM).replace("</script", "<\\/script").replace("<!--", "<\\!--"),
        style=static_text(STYLE),
        events=json.dumps([*events]).replace("<", "\\u003c"),
    )
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror})") from error
    return path
