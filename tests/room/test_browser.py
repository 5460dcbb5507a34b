"""Rooms in a real browser: two people, one text, whatever happens to the connection."""

import json
import re
import signal
import socket
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from chromium import PROGRAM as CHROMIUM
from chromium import TEXT
from firefox import PROGRAM as FIREFOX
from firefox import firefox
from rooms import NEXT, PROBLEM, Rooms

from mha_judge.bank import Bank
from mha_judge.room.export import export
from mha_judge.room.log import Event

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium"),
]
RIGHT = (
    Path(__file__).parents[1] / "submissions" / PROBLEM / "right_complex_exponentials.py"
).read_text("utf-8")
TYPING_S = 60
AWAY_S = 30


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Page:
    """A page of a room, with what one does there."""

    def __init__(self, browser, link):
        self.errors = []
        self.context = browser.new_context(viewport={"width": 1280, "height": 800})
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(link)
        self.page.wait_for_selector(".cm-content")

    @property
    def text(self):
        """All of the text, also what is scrolled out of sight."""
        return self.page.evaluate(TEXT)

    def type(self, text, place="Control+End", delay=0):
        self.page.click(".cm-content")
        self.page.keyboard.press(place)
        self.page.keyboard.type(text, delay=delay)

    def paste(self, text):
        """Paste in place of all there is."""
        self.page.click(".cm-content")
        self.page.keyboard.press("Control+a")
        self.page.evaluate(
            """text => {
              const data = new DataTransfer();
              data.setData("text/plain", text);
              const paste = new ClipboardEvent("paste", { clipboardData: data, bubbles: true });
              document.querySelector(".cm-content").dispatchEvent(paste);
            }""",
            text,
        )

    def waits_for(self, text):
        self.page.get_by_text(text, exact=False).first.wait_for()

    def close(self):
        self.context.close()
        assert self.errors == []


@contextmanager
def pages(browser, *links):
    opened = [Page(browser, link) for link in links]
    yield opened
    for one in opened:
        one.close()


def same_text(pages, within_s=30):
    """Return the text of all, once it is the same and stays so."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        texts = {one.text for one in pages}
        if len(texts) == 1:
            pages[0].page.wait_for_timeout(700)
            if texts == {one.text for one in pages}:
                return texts.pop()
        pages[0].page.wait_for_timeout(100)
    raise AssertionError(f"different texts: {[one.text[-300:] for one in pages]}")


class Wire:
    """A way to a server that can be cut."""

    def __init__(self, port):
        self._port = port
        self._ends = []
        self._is_cut = False
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with suppress(OSError):
            while True:
                end = self._listening.accept()[0]
                if self._is_cut:
                    end.close()
                    continue
                other = socket.create_connection(("127.0.0.1", self._port))
                self._ends += [end, other]
                for source, sink in ((end, other), (other, end)):
                    threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    @staticmethod
    def _pass(source, sink):
        with suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def cut(self):
        self._is_cut = True
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._ends = []

    def mend(self):
        self._is_cut = False

    def close(self):
        self.cut()
        self._listening.close()


@contextmanager
def cut_off(browser, rooms):
    """Open the first room in two pages, and cut the first page's way to the server."""
    wire = Wire(rooms.port())
    link = rooms.links[0][0].replace(f":{rooms.port()}", f":{wire.port}")
    with pages(browser, link, rooms.links[1][0]) as (one, other):
        wire.cut()
        one.page.wait_for_selector(".status:not([hidden])")
        yield wire, one, other
    wire.close()


def test_two_who_type_at_both_ends_of_a_line_end_with_one_text(chromium, rooms):
    with pages(chromium, rooms.links[0][0], rooms.links[1][0]) as (one, other):
        until = time.monotonic() + TYPING_S
        count = 0
        while time.monotonic() < until:
            one.type("a😀", "Control+Home")
            other.type("b注", "End" if count else "Control+Home")
            if count % 5 == 0:
                other.page.keyboard.press("Backspace")
            if count % 7 == 0:
                one.page.keyboard.press("Enter")
            count += 1
        text = same_text([one, other])
        assert text.count("a😀") == count
        assert count > 10


@pytest.mark.skipif(FIREFOX is None, reason="there is no firefox")
def test_browsers_of_two_makers_share_a_text_and_its_grade(chromium, rooms, tmp_path):
    control, end, enter = "\ue009", "\ue010", "\ue007"
    with firefox(tmp_path) as theirs, pages(chromium, rooms.links[2][0]) as (one,):
        theirs.goto(rooms.links[3][0])
        theirs.waits_for("document.querySelector('.cm-content') !== null")
        one.paste(RIGHT)
        theirs.waits_for(f"({TEXT}).length === {len(RIGHT)}")
        theirs.evaluate("document.querySelector('.cm-content').focus()")
        theirs.press(control, end)
        theirs.type("# 注😀")
        one.waits_for("# 注😀")
        one.page.keyboard.press("Control+z")  # takes back the paste alone
        theirs.waits_for(f"!({TEXT}).includes('return')")
        one.page.keyboard.press("Control+Shift+z")
        theirs.waits_for(f"({TEXT}).startsWith({json.dumps(RIGHT)})")
        assert one.text == theirs.evaluate(TEXT) == f"{RIGHT}# 注😀"
        theirs.press(control, enter)
        one.page.wait_for_selector(".verdict.accepted")
        theirs.waits_for("document.querySelector('.verdict.accepted') !== null")


def test_a_connection_that_was_away_brings_both_sides_together(chromium, rooms):
    with cut_off(chromium, rooms) as (wire, one, other):
        one.type("\n# written alone 😀")
        other.type("# meanwhile\n", "Control+Home")
        one.page.wait_for_timeout(1000 * AWAY_S)
        assert "# meanwhile" not in one.text
        wire.mend()
        text = same_text([one, other])
        assert text.startswith("# meanwhile\n") and text.endswith("# written alone 😀")
        one.page.wait_for_selector(".status", state="hidden")


def test_what_is_typed_while_an_interviewer_changes_the_page_stays(chromium, rooms):
    with pages(chromium, rooms.links[2][0], rooms.links[3][0]) as (one, other):
        before = one.text
        other.page.get_by_label("Add a note").fill("half")
        level, problem = map(other.page.get_by_label, ("Candidate sees", "Problem"))
        one.page.focus(".cm-content")
        one.page.keyboard.press("Control+Home")
        for _ in range(3):
            for field, choice in ((level, "hints"), (level, "checks"), (problem, NEXT)):
                one.page.keyboard.type("typed ")
                field.select_option(choice)
            one.page.locator("header h1", has_text="softmax").wait_for()
            problem.select_option(PROBLEM)
            one.page.locator("header h1", has_text="Sinusoidal").wait_for()
        assert same_text([one, other]) == 9 * "typed " + before
        one.page.keyboard.press("Control+z")
        one.page.keyboard.press("Control+z")
        assert len(same_text([one, other])) < len(before) + 54
        assert other.page.get_by_label("Add a note").input_value() == "half"


def test_a_run_waits_for_the_last_letter_and_of_nothing_there_is_none(chromium, rooms):
    with pages(chromium, rooms.links[0][0]) as (one,):
        keys = one.page.keyboard
        one.page.focus(".cm-content")
        keys.press("Control+a")
        keys.type("(1)")
        keys.press("Control+Enter")
        one.waits_for("is missing")
        keys.press("Control+a")
        keys.press("Delete")
        keys.press("Control+Enter")
        one.waits_for("There is nothing to run yet")


def test_a_key_that_is_held_down_is_not_too_much(chromium, rooms):
    with pages(chromium, rooms.links[0][0]) as (one,):
        one.type("x" * 150, delay=20)
        assert one.page.locator(".status").is_hidden()


def test_a_browser_that_goes_offline_says_so(chromium, rooms):
    with pages(chromium, rooms.links[0][0]) as (one,):
        one.context.set_offline(True)
        one.page.wait_for_selector(".status:not([hidden])")
        assert one.page.locator("button.run").is_disabled()
        one.context.set_offline(False)
        one.page.wait_for_selector(".status", state="hidden")
        assert one.page.locator("button.run").is_enabled()


def test_a_browser_without_sockets_is_told_that_it_needs_them(chromium, rooms):
    page = chromium.new_page()
    page.add_init_script("delete window.WebSocket")
    page.goto(rooms.links[0][0])
    page.get_by_text("This page needs WebSockets").wait_for()
    page.close()


def test_a_run_is_stopped_by_keys_and_says_so(chromium, rooms):
    with pages(chromium, rooms.links[0][0], rooms.links[1][0]) as (one, other):
        one.paste("import time\ntime.sleep(600)\n")
        same_text([one, other])
        one.page.keyboard.press("Control+Enter")
        other.page.get_by_role("button", name="Stop").wait_for()
        one.page.keyboard.press("Control+Shift+Enter")
        for page in (one, other):
            page.waits_for("It was stopped: there is no verdict.")
            page.page.get_by_role("button", name="Stop").wait_for(state="hidden")


def test_a_call_made_while_another_goes_on_comes_after_it(chromium, rooms):
    with pages(chromium, rooms.links[1][0]) as (one,):
        one.paste(f"import time\ntime.sleep(2)\n{RIGHT}")
        one.page.get_by_text("Try a call of your own").click()
        field = one.page.locator(".try textarea")
        for call in ("sinusoids(2, 4)", "sinusoids(3, 4)"):
            field.fill(call)
            one.page.get_by_role("button", name="Try it").click()
        one.waits_for("After it: sinusoids(3, 4)")
        for call in ("sinusoids(2, 4)", "sinusoids(3, 4)"):
            one.page.locator(".try code", has_text=call).wait_for()


def test_labels_of_cursors_at_one_place_do_not_cover_each_other(chromium, rooms):
    links = [rooms.links[number][0] for number in (0, 1, 1)]
    with pages(chromium, *links) as (one, *others):
        for page in others:
            page.page.focus(".cm-content")
            page.page.keyboard.press("Control+End")
            page.page.keyboard.press("Control+Home")
        one.page.locator(".caret").nth(1).wait_for(state="attached")
        tops = one.page.eval_on_selector_all(
            ".caret", "all => all.map(one => getComputedStyle(one, '::after').top)"
        )
        assert len({*tops}) == 2


def test_hints_and_code_leave_room_for_the_report_and_nothing_is_cut(chromium, rooms):
    with pages(chromium, rooms.links[0][0], rooms.links[1][0]) as (one, other):
        for _ in range(3):
            other.page.get_by_label("Tell the candidate").fill("a long hint\n" * 40)
            other.page.get_by_role("button", name="Send").click()
        one.page.locator(".hint").nth(2).wait_for()
        assert one.page.locator(".hints").evaluate("e => e.clientHeight") < 300
        one.page.set_viewport_size({"width": 820, "height": 1180})
        run = one.page.locator("button.run").evaluate("e => e.clientHeight")
        assert run < 40
        for shown, whole in one.page.eval_on_selector_all(
            "pre", "all => all.map(one => [one.clientWidth, one.scrollWidth])"
        ):
            assert shown == whole


def test_a_telephone_shows_everything_below_each_other(chromium, rooms):
    with pages(chromium, rooms.links[1][0]) as (one,):
        one.page.set_viewport_size({"width": 390, "height": 844})
        for part in (".task", ".side"):
            shown, whole = one.page.locator(part).evaluate("e => [e.clientHeight, e.scrollHeight]")
            assert shown == whole > 100


def test_undo_takes_back_what_one_wrote_oneself(chromium, rooms):
    with pages(chromium, rooms.links[2][0], rooms.links[3][0]) as (one, other):
        before = one.text
        one.type("\nmine = 1")
        same_text([one, other])
        other.type("theirs = 2\n", "Control+Home")
        same_text([one, other])
        one.page.keyboard.press("Control+z")
        assert same_text([one, other]) == f"theirs = 2\n{before}"


def test_a_room_is_used_by_keyboard_alone_and_played_back(chromium, rooms):
    with pages(chromium, rooms.links[2][0], rooms.links[3][0]) as (one, other):
        keys = one.page.keyboard
        one.page.focus(".cm-content")
        keys.press("Control+a")
        keys.insert_text(RIGHT)
        text = same_text([one, other])
        keys.press("Control+Enter")
        for page in (one, other):
            page.page.wait_for_selector(".verdict.accepted")
        changed = other.page.get_by_text("has changed since it was run")
        changed.wait_for(state="hidden")  # an earlier report may be there until the run begins
        keys.type("#")
        changed.wait_for()
        text = same_text([one, other])
        keys.press("Escape")
        keys.press("Tab")
        assert one.page.evaluate("document.activeElement.tagName") != "DIV"
        other.page.get_by_label("Add a note").fill("<img src=x onerror=alert(1)>")
        other.page.get_by_role("button", name="Add").click()
        other.waits_for("<img src=x onerror=alert(1)>")

        played = other.context.new_page()
        played.set_default_timeout(120_000)  # long texts were pasted in this room
        played.goto(f"{other.page.url}/record")
        for _ in range(2):
            played.get_by_label("Place in the recording").press("End")
            assert text == played.evaluate(TEXT)
            played.get_by_label("Place in the recording").press("Home")
        played.get_by_role("button", name="Next run").click()
        played.wait_for_selector(".verdict.accepted")
        rows = played.locator(".happened li")
        assert "accepted, 100 of 100 points" in rows.nth(0).inner_text()
        assert re.match(r"[\d:]+ \d\d:\d\d:\d\d The run", rows.nth(0).inner_text())


def test_a_recording_tells_who_of_several_did_what_and_when_the_clock_ran_out(chromium, tmp_path):
    begun = [
        Event(0, "", "open", {"problems": [NEXT], "language": "en", "sees": "checks"}),
        Event(0, "", "show", {"problem": NEXT, "text": "x"}),
        Event(1, "candidate", "join", {"number": 1}),
        Event(1, "interviewer", "join", {"number": 2}),
        Event(2, "interviewer", "join", {"number": 3}),
        Event(10, "interviewer", "clock", {"number": 3, "ends_at": 70, "minutes": 1}),
    ]
    late = Event(90, "interviewer", "note", {"number": 2, "text": "late"})
    export("room", [*begun, late], Bank.builtin(), tmp_path, "Ada")
    page = chromium.new_context(timezone_id="UTC").new_page()
    page.goto((tmp_path / "recording.html").as_uri())
    page.get_by_role("slider").press("End")

    assert page.locator(".happened li").all_inner_texts()[:3] == [
        "00:50 00:01:30 interviewer 2 noted: late",
        "00:30 00:01:10 Time is up",
        "00:10 00:00:10 interviewer 3 set the clock, minutes: 1",
    ]
    assert "candidate came in" in page.inner_text(".happened")


def test_long_pastes_and_characters_of_all_kinds_arrive(chromium, rooms):
    pasted = "# 😀注意 é\u0301 \u202e\n" + "x = 1\n" * 30_000
    with pages(chromium, rooms.links[2][0], rooms.links[3][0]) as (one, other):
        one.paste(pasted)
        assert same_text([one, other]) == pasted
        other.waits_for("pasted 30001 lines")
        noted = other.page.locator(".notes .pasted").count()

        one.paste("y = 2\n" * 50_000)  # over the limit: said, not noted, and the text stays
        one.waits_for("longer than 256 Ki")
        assert same_text([one, other]) == pasted
        assert other.page.locator(".notes .pasted").count() == noted


def test_long_pastes_that_wait_for_the_connection_arrive(chromium, rooms):
    with cut_off(chromium, rooms) as (wire, one, other):
        for _ in range(5):
            one.paste("注" * 200_000)
        one.type(" the end")
        wire.mend()
        assert same_text([one, other]) == "注" * 200_000 + " the end"


def test_a_server_that_is_killed_loses_nothing(chromium, tmp_path):
    rooms = Rooms(tmp_path, PROBLEM)
    with pages(chromium, rooms.links[0][0], rooms.links[1][0]) as (one, other):
        one.type("\n# before")
        same_text([one, other])
        one.type(" and after", delay=5)
        rooms.stop(signal.SIGKILL)
        one.type(" and later")
        again = Rooms(tmp_path, PROBLEM, rooms=0, port=rooms.port())
        assert same_text([one, other]).endswith("# before and after and later")
    again.stop(signal.SIGKILL)
