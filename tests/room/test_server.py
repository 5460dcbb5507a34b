"""Rooms over HTTP and sockets: what each role is told, what stays, and what nobody gets."""

import asyncio
import json
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import httpx
import pytest
from rooms import NEXT, PROBLEM, Browser, Rooms, browsers
from websockets.exceptions import ConnectionClosed

from mha_judge.bank import Bank
from mha_judge.room.hub import Member
from mha_judge.room.room import Who
from mha_judge.service.connections import HEADERS_S
from mha_judge.service.tokens import Role

pytestmark = pytest.mark.slow
SUBMISSIONS = Path(__file__).parents[1] / "submissions" / PROBLEM
WRONG = (SUBMISSIONS / "wrong_batch_axis.py").read_text("utf-8")
RIGHT = (SUBMISSIONS / "right_complex_exponentials.py").read_text("utf-8")


def replaced(told, source):
    """Return a change of all that a room has told to a source."""
    return [[len(told["text"].encode("utf-16-le")) // 2, *source.split("\n")]]


def test_what_one_types_the_other_sees_and_stale_changes_are_refused(rooms):
    with browsers(rooms, *rooms.links[:2]) as [(one, told), (other, _)]:
        change = [[0, "# 😀", ""], len(told["text"])]
        one.send("push", problem=PROBLEM, version=told["version"], client="a", changes=[change])
        seen = other.next("changes")
        assert seen["changes"] == [["a", change]]
        other.send("push", problem=PROBLEM, version=told["version"], client="b", changes=[change])
        assert other.next("changes", "refused") == {"kind": "refused", "what": "push", "why": ""}
        one.send("cursor", problem=PROBLEM, anchor=1, head=2)
        assert other.next("cursor")["who"] == "candidate"
    with Browser(rooms.url, *rooms.links[0][1:], versions={PROBLEM: told["version"]}) as back:
        assert "text" not in back.next("room")
        assert back.next("changes")["changes"] == [["a", change]]


def test_each_role_is_told_of_a_run_what_it_may_know(rooms):
    candidate, interviewer = rooms.links[2:4]
    with browsers(rooms, candidate, interviewer) as [(one, told), (other, theirs)]:
        assert theirs["problems"][0][0] == PROBLEM
        assert {"problems", "notes", "questions"}.isdisjoint(told)
        one.send(
            "push", problem=PROBLEM, version=told["version"], client="a",
            changes=[replaced(told, WRONG)],
        )  # fmt: skip
        one.send("run", problem=PROBLEM)
        assert one.next("check")["check"].keys() >= {"title", "outcome"}
        mine, full = one.next("graded"), other.next("graded")
        assert (mine["report"]["verdict"], full["report"]["verdict"]) == ("rejected", "rejected")
        assert full["report"]["diagnoses"][0]["title"] and full["questions"]["mistakes"]
        assert "questions" not in mine
        secret = json.dumps(mine)
        for known in ("seed", full["report"]["diagnoses"][0]["title"], "explanation"):
            assert known not in secret

        other.send("see", level="hints")
        assert one.next("room")["runs"][-1]["report"]["diagnoses"][0]["title"]
        other.send("see", level="score")
        assert "checks" not in one.next("room")["runs"][-1]["report"]
        other.send("note", text="<b>slow</b>")
        assert other.next("noted")["text"] == "<b>slow</b>"
        one.send("pasted", problem=PROBLEM, units=9, lines=2)
        assert other.next("noted")["lines"] == 2
        with browsers(rooms, interviewer) as [(_, later)]:
            assert [note["what"] for note in later["notes"]] == ["note", "pasted"]
        other.send("hint", text="look at the axis")
        assert one.next("hint", "noted")["text"] == "look at the axis"
        other.send("clock", minutes=5)
        assert one.next("clock", "noted")["ends_at"] > time.time()
        other.send("show", problem=NEXT)
        assert one.next("room")["text"]
        other.send("show", problem=PROBLEM)
        other.send("show", problem=NEXT)
        shown = [one.next("room") for _ in range(2)]
        assert [(told["problem"], "text" in told) for told in shown] == [
            (PROBLEM, False), (NEXT, False),
        ]  # fmt: skip
        for kind, body in {"see": {"level": "full"}, "show": {"problem": PROBLEM}}.items():
            one.send(kind, **body)
            assert "only interviewers" in one.next("refused")["why"]
    with httpx.Client(base_url=rooms.url, follow_redirects=True) as pages:
        assert pages.get(candidate[0]).status_code == 200
        assert pages.get(f"/rooms/{candidate[1]}/record.json").status_code == 403
        assert pages.get(interviewer[0]).status_code == 200
        kinds = [event[2] for event in pages.get(f"/rooms/{candidate[1]}/record.json").json()]
    assert kinds.count("graded") == 1 and {"note", "hint", "clock", "show", "join"} <= {*kinds}


def test_a_room_speaks_one_language(tmp_path):
    chinese = re.compile("[\u4e00-\u9fff]")
    rooms = Rooms(tmp_path, PROBLEM, options=("--lang", "zh"))
    with browsers(rooms, rooms.links[1]) as [(one, told)]:
        one.send(
            "push", problem=PROBLEM, version=told["version"], client="zh",
            changes=[replaced(told, WRONG)],
        )  # fmt: skip
        one.send("run", problem=PROBLEM)
        assert chinese.search(one.next("check")["check"]["title"])
        report = one.next("graded")["report"]
        mistake = report["diagnoses"][0]
        titles = [report["title"], mistake["title"], *(one["title"] for one in report["checks"])]
        assert all(map(chinese.search, [*titles, mistake["explanation"]]))
    rooms.stop()


def test_calls_of_ones_own_are_for_interviewers_and_whom_they_let(rooms):
    with browsers(rooms, *rooms.links[:2]) as [(candidate, told), (interviewer, _)]:
        change = replaced(told, RIGHT)
        interviewer.send(
            "push", problem=PROBLEM, version=told["version"], client="tries", changes=[change]
        )
        assert interviewer.next("changes", "refused")["kind"] == "changes"
        call = {"problem": PROBLEM, "call": "sinusoids(3, 4)"}
        candidate.send("try", **call)
        assert "not shown" in candidate.next("refused")["why"]
        interviewer.send("try", **call)
        assert not interviewer.next("tried")["attempt"]["wrong"]

        interviewer.send("see", level="hints")
        candidate.next("room")
        candidate.send("try", problem=PROBLEM, call="sinusoids(")
        assert "not Python" in candidate.next("refused")["why"]
        candidate.send("try", problem=NEXT, call="softmax(3)")
        assert "not been shown" in candidate.next("refused")["why"]
        interviewer.send("see", level="checks")
    room, key = rooms.links[1][1:]
    cookies = {"mha-judge-room": key}
    record = httpx.get(f"{rooms.url}/rooms/{room}/record.json", cookies=cookies).json()
    assert [body["call"] for _, _, kind, body in record if kind == "try"] == [
        "sinusoids(3, 4)", "sinusoids(",
    ]  # fmt: skip


def test_an_answer_is_accepted(rooms):
    with browsers(rooms, rooms.links[1]) as [(one, told)]:
        one.send(
            "push", problem=PROBLEM, version=told["version"], client="c",
            changes=[replaced(told, RIGHT)],
        )  # fmt: skip
        one.next("changes")
        one.send("run", problem=PROBLEM)
        one.next("run")
        one.send("run", problem=PROBLEM)
        assert "a run is going on" in one.next("refused")["why"]
        assert one.next("graded")["report"]["verdict"] == "accepted"


def test_a_run_that_takes_long_is_stopped_by_anyone_and_the_next_one_is_graded(rooms):
    with browsers(rooms, *rooms.links[:2]) as [(one, told), (other, _)]:
        for source in ("import time\ntime.sleep(600)\n", RIGHT):
            change = replaced(told, source)
            one.send(
                "push", problem=PROBLEM, version=told["version"], client="stops", changes=[change]
            )
            one.next("changes")
            one.send("run", problem=PROBLEM)
            other.next("run")
            if source is not RIGHT:
                other.send("stop")
                assert one.next("graded", "check")["reason"] == "cancelled"
                with browsers(rooms, rooms.links[0]) as [(_, told)]:
                    assert told["runs"][-1]["reason"] == "cancelled"
        assert one.next("graded")["report"]["verdict"] == "accepted"
        other.send("stop")
        assert "nothing to stop" in other.next("refused")["why"]
    room, key = rooms.links[1][1:]
    cookies = {"mha-judge-room": key}
    record = httpx.get(f"{rooms.url}/rooms/{room}/record.json", cookies=cookies).json()
    [stop] = [event for event in record if event[2] == "stop"]
    assert stop[1] == "interviewer" and stop[3]["number"]


def test_a_browser_that_comes_back_has_the_number_that_it_had(rooms):
    link, room, key = rooms.links[0]

    def number(client):
        client.get(link)
        cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        with Browser(rooms.url, room, key, Cookie=cookies) as page:
            return page.next("people")["you"]

    with httpx.Client() as one, httpx.Client() as other:
        first, second = number(one), number(other)
        assert second != first
        assert (number(one), number(other)) == (first, second)


def test_a_text_that_is_too_long_is_refused_in_the_same_words_everywhere(rooms):
    with browsers(rooms, rooms.links[1]) as [(one, told)]:
        change = replaced(told, "注" * 100_000)
        one.send("push", problem=PROBLEM, version=told["version"], client="l", changes=[change])
        one.next("changes")
        one.send("run", problem=PROBLEM)
        one.send("try", problem=PROBLEM, call="sinusoids(3, 4)")
        refused = [one.next("refused") for _ in range(2)]

    assert [each["what"] for each in refused] == ["run", "try"]
    assert {each["why"] for each in refused} == {
        "the text is larger than 256 KiB; hand in only the answer"
    }


@pytest.mark.parametrize("of", ["nobody", "another room", "elsewhere", "no origin"])
def test_a_socket_needs_the_cookie_of_its_room_and_a_page_of_this_server(rooms, of):
    _, room, key = rooms.links[0]
    keys = {"nobody": "x" * 32, "another room": rooms.links[3][2]}
    origins = {"elsewhere": "http://evil.example", "no origin": None}
    headers = {
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Origin": origins.get(of, rooms.url),
        "Cookie": f"mha-judge-room={keys.get(of, key)}",
    }  # fmt: skip
    sent = {name: value for name, value in headers.items() if value is not None}

    with closing(HTTPConnection("127.0.0.1", rooms.port(), timeout=60)) as connection:
        connection.request("GET", f"/rooms/{room}/socket", headers=sent)
        with connection.getresponse() as reply:
            assert reply.status == 403


def test_a_socket_stays_after_the_time_that_a_request_may_take(rooms):
    with browsers(rooms, rooms.links[0]) as [(one, _)]:
        time.sleep(HEADERS_S + 2)
        one.send("run", problem="nothing")
        assert "not been shown" in one.next("refused")["why"]


def test_many_candidates_keep_no_interviewer_out(rooms):
    candidate, interviewer = rooms.links[2:4]
    with browsers(rooms, *[candidate] * 16), browsers(rooms, interviewer) as [(_, told)]:
        assert told["role"] == "interviewer"
        with Browser(rooms.url, *candidate[1:]) as late, pytest.raises(ConnectionClosed):
            late.next("room")


def test_who_reads_nothing_is_cut_off_before_much_is_kept_for_them():
    member = Member(Who(Role.CANDIDATE, 1))
    for _ in range(9):
        member.tell("room", text="x" * 1024**2)

    assert member.unsent.qsize() == 1
    assert asyncio.run(member.next()) is None


def test_a_server_is_reached_by_its_own_name(rooms):
    reply = httpx.get(rooms.links[0][0], headers={"Host": "evil.example"})

    assert reply.status_code == 421
    assert "Set-Cookie" not in reply.headers


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/rooms/{room}", 403), ("/rooms/{room}/record", 403), ("/rooms/{room}/record.json", 403),
        ("/rooms/{room}/enter/x", 404), ("/rooms/nowhere/enter/{key}", 404),
        ("/static/..%2fapp.py", 404), ("/static/app.py", 404), ("/rooms/{room}/socket", 404),
        ("/v1/grades", 404), ("/docs", 404),
    ],
)  # fmt: skip
def test_who_has_no_link_gets_nothing(rooms, path, status):
    _, room, key = rooms.links[0]

    reply = httpx.get(rooms.url + path.format(room=room, key=key))

    assert reply.status_code == status
    assert "<" not in reply.text
    if "enter" in path:
        assert "Ask the interviewer for a new link" in reply.text


def test_a_page_takes_no_program_from_elsewhere_and_stands_in_no_frame(rooms):
    entered = httpx.get(rooms.links[0][0])
    cookie = entered.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie
    assert f"Path=/rooms/{rooms.links[0][1]}" in cookie

    page = httpx.get(f"{rooms.url}{entered.headers['Location']}", cookies=entered.cookies)

    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy and "//" not in policy
    assert page.headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize(
    "sent",
    ["", "[]", '{"kind": "here"}', '{"kind": "push"}', '{"kind": "run", "problem": 3}', b"\xff"],
)
def test_what_is_no_message_ends_the_connection_and_no_room(rooms, sent):
    with browsers(rooms, rooms.links[0], rooms.links[1]) as [(bad, _), (good, _)]:
        bad.socket.send(sent)
        with pytest.raises(ConnectionClosed):
            bad.next("nothing")
        good.send("focus", here=True)
        good.send("run", problem="nothing")
        assert "not been shown" in good.next("refused")["why"]


def test_forged_changes_do_nothing(rooms):
    with browsers(rooms, rooms.links[0]) as [(one, told)]:
        length, version = len(told["text"]), told["version"]
        for changes, why in (
            ([[length + 9]], "longer text"),
            ([[0] * 300_000], "at most"),
            ([[[0, "a\nb"], length]], "a part of a change"),
            ([[length, [0, "x" * 300_000]]], "would be longer"),
        ):
            one.send("push", problem=PROBLEM, version=version, client="z", changes=changes)
            assert why in one.next("refused")["why"]
        one.send("push", problem=PROBLEM, version=version + 5, client="z", changes=[[length]])
        assert one.next("refused")["why"] == ""
    with browsers(rooms, rooms.links[0]) as [(_, again)]:
        assert again["text"] == told["text"]


def test_links_name_the_server_as_others_reach_it(tmp_path):
    rooms = Rooms(tmp_path, PROBLEM, options=("--allow-host", "interviews.example.org"))
    rooms.stop(signal.SIGKILL)

    for link, room, _ in rooms.links:
        assert link.startswith(f"https://interviews.example.org/rooms/{room}/")


def test_half_a_character_spoils_no_recording(rooms):
    _, room, key = rooms.links[1]
    with browsers(rooms, rooms.links[0]) as [(one, told)]:
        length = len(told["text"].encode("utf-16-le", "surrogatepass")) // 2
        half = [[0, "\ud83d"], length]
        one.send("push", problem=PROBLEM, version=told["version"], client="half", changes=[half])
        assert one.next("changes", "refused")["kind"] == "changes"
        url = f"{rooms.url}/rooms/{room}/record.json"
        record = httpx.get(url, cookies={"mha-judge-room": key}).raise_for_status().json()
        one.send(
            "push", problem=PROBLEM, version=told["version"] + 1, client="half",
            changes=[[[1], length]],
        )  # fmt: skip
        assert one.next("changes", "refused")["kind"] == "changes"

    assert half in [event[3]["parts"] for event in record if event[2] == "change"]


def test_rooms_of_before_are_counted_and_none_is_said(tmp_path):
    command = [sys.executable, "-m", "mha_judge", "room", "--rooms", "0", "--port", "0"]
    command += ["--store", str(tmp_path / "empty"), "--sandbox", "jail"]

    none = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert none.returncode == 2
    assert "there is no room in" in none.stderr


def test_who_sends_too_much_is_told_to_wait(rooms):
    with browsers(rooms, rooms.links[0]) as [(one, _)]:
        for _ in range(90):
            one.send("focus", here=True)
        assert "too much at once" in one.next("refused")["why"]


def test_what_a_full_disk_does_not_take_is_said_and_can_be_sent_again(tmp_path):
    rooms = Rooms(tmp_path, PROBLEM)
    server, files = rooms.process.pid, resource.RLIMIT_FSIZE
    with browsers(rooms, rooms.links[0]) as [(one, told)]:
        push = {"problem": PROBLEM, "version": told["version"], "client": "a"}
        before = resource.prlimit(server, files)
        resource.prlimit(server, files, (1, before[1]))  # no file may grow
        one.send("push", changes=[replaced(told, RIGHT)], **push)
        assert "cannot be kept on the server's disk" in one.next("refused")["why"]
        resource.prlimit(server, files, before)
        one.send("push", changes=[replaced(told, RIGHT)], **push)
        one.next("changes")
    assert rooms.stop() == 0


def test_a_room_outlives_changes_of_its_bank(tmp_path):
    bank = tmp_path / "bank"
    for part in ("problems", "graders", "reference"):
        shutil.copytree(Bank.builtin().root / part, bank / part)
    grader = bank / "graders" / "test_softmax.py"
    rooms = Rooms(tmp_path, NEXT, bank=bank)
    with browsers(rooms, *rooms.links[:2]) as [(one, told), (other, _)]:
        source = Bank.builtin().reference(NEXT).read_text("utf-8")
        one.send("push", problem=NEXT, version=0, client="a", changes=[replaced(told, source)])
        one.next("changes")
        grader.rename(tmp_path / "grader.py")
        one.send("run", problem=NEXT)
        assert one.next("graded")["message"] == "the judge failed; run it again"
        assert f"{grader} is missing" in other.next("graded")["message"]
        (tmp_path / "grader.py").rename(grader)
        one.send("run", problem=NEXT)
        assert one.next("graded")["report"]["verdict"] == "accepted"
    assert rooms.stop() == 0


def test_nothing_acknowledged_is_lost_when_the_server_is_killed(tmp_path):
    def mha_judge(*arguments):
        command = [sys.executable, "-m", "mha_judge", *arguments]
        if arguments[1] == "export":
            command += ["--candidate", "Ada"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    rooms = Rooms(tmp_path, PROBLEM)
    candidate = rooms.links[0]
    with browsers(rooms, candidate) as [(one, told)]:
        text, version = told["text"], told["version"]
        one.send(
            "push", problem=PROBLEM, version=version, client="a", changes=[replaced(told, RIGHT)]
        )
        one.next("changes")
        for _ in range(20):
            version += 1
            change = [[0, "#", ""], len(RIGHT.encode("utf-16-le")) // 2 + 2 * (version - 1)]
            one.send("push", problem=PROBLEM, version=version, client="a", changes=[change])
            one.next("changes")
        one.send("run", problem=PROBLEM)
        one.next("run")
        rooms.stop(signal.SIGKILL)
    assert mha_judge("room", "list", "--store", "rooms").stdout.endswith(f"  {PROBLEM}\n")
    assert "there are no rooms in" in mha_judge("room", "list", "--store", "elsewhere").stderr
    assert not (tmp_path / "elsewhere").exists()
    again = Rooms(tmp_path, PROBLEM, rooms=0, port=rooms.port())
    with browsers(again, candidate) as [(one, told)]:
        assert told["text"] == "#\n" * 20 + RIGHT != text
        graded = [run for run in told["runs"] if run["reason"]] or [one.next("graded")]
        assert graded[0]["report"]["verdict"] == "accepted"

    exported = mha_judge("room", "export", candidate[1], "-o", "out", "--store", "rooms")
    assert [line.split("/")[-1] for line in exported.stdout.splitlines()] == [
        "recording.html",
        "Ada.html",
    ]
    second = mha_judge("room", PROBLEM, "--store", "rooms", "--port", "0")
    assert "is used by another" in second.stderr and second.returncode == 2
    assert again.stop() == 0
    assert mha_judge("regrade", "out/Ada.zip").returncode == 0
    assert (tmp_path / "out" / "recording.html").read_text("utf-8").count("</script>") == 2
