"""What a page is told and can do, over its socket."""

import json
import signal
import socket
from pathlib import Path

import httpx
import pytest
from desks import PROBLEM, Page
from websockets.exceptions import ConnectionClosed, InvalidStatus

pytestmark = pytest.mark.slow
SUBMISSIONS = Path(__file__).parents[1] / "submissions" / PROBLEM
WRONG = (SUBMISSIONS / "wrong_base_1000.py").read_text("utf-8")
RIGHT = (SUBMISSIONS / "right_complex_exponentials.py").read_text("utf-8")
NAME, TITLE = "other-base", "The base is not 10000"


def test_a_problem_is_begun_hinted_at_solved_and_kept_for_the_commands(desk, page):
    begun = page.begun()
    starter, file = begun["file"], Path(begun["path"])
    assert file.read_text("utf-8") == starter["text"]

    wrong = page.run(WRONG, starter["version"])
    assert file.read_text("utf-8") == WRONG
    assert wrong["run"]["report"]["verdict"] == "rejected"
    assert wrong["run"]["report"]["unnamed"] == 1
    assert any(message["kind"] == "check" for message in page.heard)

    page.send("hint")
    assert "costs" in page.next("offer")["text"]
    page.send("take")
    hinted = page.next("state", lambda state: state["hints"])
    assert hinted["price"] > 0
    assert [one["title"] for one in hinted["run"]["report"]["diagnoses"]]

    right = page.run(RIGHT, hinted["file"]["version"])
    assert right["run"]["report"]["verdict"] == "accepted"
    assert right["end"] == "solved"
    assert right["run"]["due"]

    page.send("rate", rating="good")
    assert "Rated “Good”" in page.next("said")["text"]
    page.send("solution")
    shown = page.next("solution")
    assert "def " in shown["source"] and len(shown["slips"]) == 1
    assert json.loads(desk.command("progress", "--json").stdout)["totals"]["solved"] == 1
    assert "class=" in httpx.get(
        f"{desk.url}/progress", cookies={"mha-judge-practice": desk.key}
    ).text  # fmt: skip


def test_no_mistake_is_named_before_its_hint(page):
    text = "\n".join(line for line in WRONG.splitlines() if not line.startswith("#"))
    page.run(text, page.begun()["file"]["version"])

    told = json.dumps([one for one in page.heard if one["kind"] in ("state", "check")])
    assert NAME not in told
    assert TITLE not in told


def test_what_others_save_is_graded_and_never_written_over(page):
    begun = page.begun()
    starter, file = begun["file"], Path(begun["path"])
    file.write_text(WRONG, "utf-8")  # an editor of one's own
    saved = page.graded()
    assert saved["file"]["text"] == WRONG

    page.send("run", problem=PROBLEM, text=RIGHT, over=starter["version"])
    assert "changed elsewhere" in page.next("refused")["why"]
    assert file.read_text("utf-8") == WRONG
    assert page.run(RIGHT, saved["file"]["version"])["end"] == "solved"


def test_a_file_that_cannot_be_shown_says_what_to_do(page):
    Path(page.begun()["path"]).write_bytes(b"\xff\xfe")
    told = page.next("state", lambda state: "text" not in state["file"])
    assert "not UTF-8 text (byte 0)" in told["file"]["why"]


def test_solutions_are_for_who_has_solved_or_given_up(page):
    page.begun()
    page.send("solution")
    assert "Giving up" in page.next("refused")["why"]
    page.send("give up")
    assert page.next("solution")["given_up"]
    assert page.next("state")["end"] == "given up"


def test_a_call_of_ones_own_needs_no_save(page):
    begun = page.begun()
    page.send("try", problem=PROBLEM, text=WRONG, call="sinusoidal_encoding(3, 4)")
    assert page.next("tried")["attempt"]["wrong"]
    page.send("try", problem=PROBLEM, text=RIGHT, call="sinusoids(3, 4)")
    assert not page.next("tried")["attempt"]["wrong"]
    page.send("try", problem=PROBLEM, text=RIGHT, call="sinusoids(")
    assert "not Python" in page.next("refused")["why"]
    page.send("try", problem="none", text=RIGHT, call="sinusoids(3, 4)")
    assert "none" in page.next("refused")["why"]
    assert Path(begun["path"]).read_text("utf-8") == begun["file"]["text"]


def test_a_run_that_takes_long_is_stopped_and_is_no_attempt(page):
    slow = "import time\ntime.sleep(600)\n"
    page.send("run", problem=PROBLEM, text=slow, over=page.begun()["file"]["version"])
    runs = page.next("state", lambda state: (state["run"] or {}).get("reason") == "")

    page.send("stop")
    stopped = page.next("state", lambda state: state["run"]["reason"])
    assert "you stopped it" in stopped["run"]["message"]
    assert stopped["attempts"] == runs["attempts"] == 0
    assert page.run(WRONG, stopped["file"]["version"])["attempts"] == 1


def test_pages_agree_and_notes_stay(desk, page):
    page.begun()
    page.send("note", problem=PROBLEM, text="sine at even places")
    page.send("open", problem="softmax")
    page.next("state", lambda state: state["problem"] == "softmax")
    page.send("language")
    assert page.next("words", lambda one: one["language"] == "zh")["words"]["hint"] == "提示"

    with Page(desk) as other:
        assert other.next("words")["language"] == "zh"
        assert other.next("state")["problem"] == "softmax"
        other.send("open", problem=PROBLEM)
        assert (
            other.next("state", lambda state: state["problem"] == PROBLEM)["note"]
            == "sine at even places"
        )
    assert page.next("state", lambda state: state["problem"] == PROBLEM)["note"]
    page.send("language")
    page.next("words", lambda one: one["language"] == "en")


@pytest.mark.parametrize(
    "wrong",
    [
        "no JSON",
        '{"kind": "run"}',
        '{"kind": "rm"}',
        "[[[" * 9_000,
        json.dumps({"kind": "题" * 99}),
    ],
)
def test_what_is_no_message_ends_the_connection_and_nothing_else(desk, wrong):
    with Page(desk) as page:
        page.socket.send(wrong)
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                page.socket.recv(timeout=20)
        assert closed.value.rcvd.code == 4000
    with Page(desk) as page:
        page.next("state", lambda state: state["problem"])


@pytest.mark.parametrize(
    "headers",
    [{"Cookie": None}, {"Cookie": "mha-judge-practice=another"}, {"Origin": None},
     {"Origin": "http://elsewhere.example"}, {"Origin": "http://127.0.0.1:1"},
     {"Host": "elsewhere.example"}],
    ids=["no cookie", "another key", "no origin", "another origin", "another port", "another host"],
)  # fmt: skip
def test_only_who_has_the_link_comes_in(desk, headers):
    with pytest.raises(InvalidStatus), Page(desk, **headers):
        pass


def test_pages_are_for_who_has_the_link_and_nobody_frames_them(desk):
    assert httpx.get(desk.url).status_code == 403
    assert httpx.get(f"{desk.url}/progress").status_code == 403
    assert httpx.get(f"{desk.url}/enter/another").status_code == 404
    entered = httpx.get(desk.link)
    assert entered.status_code == 303 and "httponly" in entered.headers["set-cookie"].lower()
    page = httpx.get(desk.url, cookies={"mha-judge-practice": desk.key})
    assert page.status_code == 200
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]


def test_a_port_in_use_is_said_and_an_interrupt_ends_all(desk):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        failed = desk.command("practice", "--web", "--port", port, "--sandbox", "jail")
    assert failed.returncode == 2
    assert "another --port" in failed.stderr
    assert desk.stop(signal.SIGINT) in (0, -signal.SIGINT, 130)
