"""What a room's log says, and who may add what to it."""

import json
import sqlite3
from contextlib import closing

import pytest

from mha_judge.errors import UsageError
from mha_judge.report.models import Reveal
from mha_judge.room.log import Log
from mha_judge.room.messages import read
from mha_judge.room.room import Room, Stale, Who
from mha_judge.service.store import Store
from mha_judge.service.tokens import Role

STARTER = "def f():\r\n    pass\n"


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def room(clock):
    made = Room("room", lambda problem: f"# {problem}\n{STARTER}", clock)
    made.follow(made.opening(["sdpa", "gqa"], "en", Reveal.CHECKS))
    return made


def does(room, role, **message):
    events = room.propose(Who(role, 1), read(json.dumps(message)))
    room.follow(events)
    return events


def push(room, version, *changes, role=Role.CANDIDATE, problem="sdpa", client="x"):
    sent = {"kind": "push", "problem": problem, "version": version, "client": client}
    return does(room, role, **sent, changes=[*changes])


def test_it_begins_with_the_first_problem_and_one_kind_of_line_end(room):
    assert room.shown == "sdpa"
    assert str(room.sheets["sdpa"].text) == "# sdpa\ndef f():\n    pass\n"
    assert room.sheets.keys() == {"sdpa"}


def test_changes_are_taken_on_the_current_version_only(room):
    length = len(room.sheets["sdpa"].text)
    push(room, 0, [[0, "a"], length], [[0, "b"], length + 1])

    assert str(room.sheets["sdpa"].text).startswith("ba# sdpa")
    for version in (0, 1, 3):
        with pytest.raises(Stale):
            push(room, version, [[0, "c"], length + 2])
    with pytest.raises(UsageError, match="longer text"):
        push(room, 2, [[0, "d"], length + 2], [[0, "e"], length + 9])
    assert str(room.sheets["sdpa"].text).startswith("ba# sdpa")


def test_a_problem_has_a_text_of_its_own_once_it_was_shown(room):
    with pytest.raises(UsageError, match="not been shown"):
        push(room, 0, [[0, "a"], 1], problem="gqa")
    does(room, Role.INTERVIEWER, kind="show", problem="gqa")
    push(room, 0, [[0, "a"], len(room.sheets["gqa"].text)], problem="gqa")
    does(room, Role.INTERVIEWER, kind="show", problem="sdpa")
    does(room, Role.INTERVIEWER, kind="show", problem="gqa")

    assert str(room.sheets["gqa"].text).startswith("a# gqa")
    with pytest.raises(UsageError, match="no problem 'mla'"):
        does(room, Role.INTERVIEWER, kind="show", problem="mla")


@pytest.mark.parametrize(
    "message",
    [
        {"kind": "show", "problem": "gqa"},
        {"kind": "see", "level": "full"},
        {"kind": "clock", "minutes": 5},
        {"kind": "note", "text": "good"},
        {"kind": "hint", "text": "the answer is"},
    ],
)
def test_a_candidate_does_nothing_that_is_an_interviewers(room, message):
    count = room.count

    with pytest.raises(UsageError, match="only interviewers"):
        does(room, Role.CANDIDATE, **message)
    assert room.count == count
    does(room, Role.INTERVIEWER, **message)
    assert room.count == count + 1


def test_nobody_writes_as_the_client_of_another(room):
    length = len(room.sheets["sdpa"].text)
    push(room, 0, [length], role=Role.INTERVIEWER, client="theirs")
    push(room, 1, [length])

    with pytest.raises(UsageError, match="another one's"):
        push(room, 2, [length], client="theirs")


def test_a_record_that_is_full_of_changes_takes_notes_still(room, monkeypatch):
    monkeypatch.setattr("mha_judge.room.room.MAX_CHANGES_BYTES", 100)
    length = len(room.sheets["sdpa"].text)
    push(room, 0, [length, [0, "x" * 50]])

    with pytest.raises(UsageError, match="no place for more text"):
        push(room, 1, [length + 50])
    does(room, Role.INTERVIEWER, kind="note", text="good")


def test_a_browser_keeps_its_number_and_another_gets_the_next(room):
    def came(browser, role=Role.CANDIDATE):
        who, joins = room.joining(role, browser)
        room.follow([joins])
        return who.number

    assert [came("a"), came("b"), came(""), came("a"), came("")] == [1, 2, 3, 1, 4]
    assert came("a", Role.INTERVIEWER) == 5  # its cursor is another one
    assert came("b") == 2


def test_a_note_keeps_no_character_that_turns_the_direction_of_writing(room):
    for kind in ("note", "hint"):
        [event] = does(room, Role.INTERVIEWER, kind=kind, text="a\u202eb 😀\n注")
        assert event.body == {"number": 1, "text": "a\\u{202e}b 😀\n注"}


def test_only_a_run_that_goes_on_is_stopped(room):
    with pytest.raises(UsageError, match="nothing to stop"):
        does(room, Role.CANDIDATE, kind="stop")
    room.follow([room.event(Who(Role.CANDIDATE, 1), "run", grade="g", problem="sdpa", version=0)])

    [event] = does(room, Role.CANDIDATE, kind="stop")
    assert (event.kind, event.body["grade"]) == ("stop", "g")


def test_time_does_not_go_back(room, clock):
    [first] = does(room, Role.CANDIDATE, kind="focus", here=False)
    clock.now -= 500
    [second] = does(room, Role.CANDIDATE, kind="focus", here=True)

    assert second.at == first.at


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{", "null", '{"kind": "push"}', '{"kind": "show", "problem": 3}', "[" * 100_000,
        '{"kind": "clock", "minutes": NaN}', '{"kind": "note", "text": ""}',
        '{"kind": "note", "text": "\\ud83d"}', '{"kind": "run", "problem": "sdpa", "seed": 1}',
        '{"kind": "cursor", "problem": "sdpa", "anchor": -1, "head": 0}', '{"kind": "report"}',
    ],
)  # fmt: skip
def test_what_is_no_message_is_refused(text):
    with pytest.raises(UsageError, match="no message of this page"):
        read(text)


def test_a_log_says_the_same_after_it_was_closed(tmp_path, room):
    path = tmp_path / "folder" / "rooms.sqlite"
    log = Log(path)
    keys = log.make()
    log.append(keys.room, 0, room.opening(["sdpa"], "zh", Reveal.FULL))
    with pytest.raises(Exception, match="UNIQUE"):
        log.append(keys.room, 1, room.opening(["gqa"], "en", Reveal.FULL))
    log.close()

    log = Log(path)
    again = Room(keys.room, lambda problem: problem)
    again.follow(log.events(keys.room))
    assert (again.count, again.language, again.sees, again.shown) == (2, "zh", Reveal.FULL, "sdpa")
    assert log.role(keys.room, keys.candidate) is Role.CANDIDATE
    assert log.role(keys.room, keys.interviewer) is Role.INTERVIEWER
    assert [(one.room, one.problems) for one in log.rooms()] == [(keys.room, ["sdpa"])]
    log.close()
    assert keys.candidate not in path.read_bytes().decode("latin-1")


def test_a_key_opens_no_other_room(tmp_path):
    log = Log(tmp_path / "rooms.sqlite")
    one, other = log.make(), log.make()

    assert log.role(one.room, other.candidate) is None
    assert log.role(one.room, "\ud83d") is None
    assert log.role("nowhere", one.interviewer) is None
    with pytest.raises(UsageError, match="no room 'nowhere'"):
        log.events("nowhere")
    log.close()


def test_a_file_of_something_else_is_refused(tmp_path):
    Store(tmp_path / "grades.sqlite").close()

    with pytest.raises(UsageError, match="another program's"):
        Log(tmp_path / "grades.sqlite")


def test_a_log_of_another_version_is_refused_and_left_as_it_is(tmp_path):
    path = tmp_path / "rooms.sqlite"
    Log(path).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 99")

    for _ in range(2):
        with pytest.raises(UsageError, match="version 99"):
            Log(path)


def test_a_log_can_be_read_while_a_server_adds_to_it(tmp_path, room):
    log, reading = (Log(tmp_path / "rooms.sqlite") for _ in range(2))
    keys = log.make()
    log.append(keys.room, 0, room.opening(["sdpa"], "en", Reveal.FULL))

    assert [event.kind for event in reading.events(keys.room)] == ["open", "show"]
    log.close()
    reading.close()
