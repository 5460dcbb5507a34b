"""Practice in a real browser: what is typed survives, and nothing is written over."""

import time
from pathlib import Path

import pytest
from chromium import PROGRAM as CHROMIUM
from chromium import TEXT
from desks import PROBLEM

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium"),
]
RIGHT = (
    Path(__file__).parents[1] / "submissions" / PROBLEM / "right_complex_exponentials.py"
).read_text("utf-8")


@pytest.fixture
def shown(desk):
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(60_000)
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(desk.link)
        page.wait_for_selector(".begin button, .cm-content")
        for begin in page.query_selector_all(".begin button"):
            begin.click()
        page.wait_for_selector(".cm-content")
        yield page
        browser.close()
        assert not errors


def soon(holds):
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def type_at_the_end(page, text):
    page.click(".cm-content")
    page.keyboard.press("Control+End")
    page.keyboard.type(text)


def test_what_is_typed_survives_a_reload_and_a_change_of_the_file(desk, shown):
    page = shown
    type_at_the_end(page, "# typed 😀")
    soon(lambda: "not saved yet" in page.inner_text(".people"))
    file = max(desk.folder.glob("*.py"), key=lambda path: path.stat().st_mtime)
    page.reload()
    page.wait_for_selector(".cm-content")
    soon(lambda: page.evaluate(TEXT).endswith("# typed 😀"))

    file.write_text(RIGHT, "utf-8")
    page.wait_for_selector(".conflict:not([hidden])")
    page.click(".cm-content")
    page.keyboard.press("Control+Enter")
    assert "changed elsewhere" in page.inner_text(".status")
    assert file.read_text("utf-8") == RIGHT

    page.click(".conflict button >> nth=1")
    assert page.evaluate(TEXT).endswith("# typed 😀")
    page.keyboard.press("Control+Enter")
    page.click("button.run")
    soon(lambda: file.read_text("utf-8").endswith("# typed 😀"))


def test_a_page_does_not_write_its_old_notes_over_those_of_another(desk, shown):
    page, note = shown, "textarea[aria-label^='Your notes']"
    other = page.context.browser.new_page()
    other.goto(desk.link)
    other.wait_for_selector(".cm-content")
    other.click("summary:has-text('Your notes')")
    other.fill(note, "written on another page")
    other.reload()
    soon(lambda: other.input_value(note) == "written on another page")

    for title in ("A stable softmax", "Sinusoidal"):
        page.click("button:has-text('Problems')")
        page.click(f".tracks button:has-text('{title}')")
        soon(lambda title=title: page.inner_text("h1 >> nth=0").startswith(title))
    assert page.input_value(note) == "written on another page"


def test_a_problem_is_solved_by_keys_alone(desk, shown):
    page = shown
    page.focus(".cm-content")
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(RIGHT)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".verdict.accepted")
    assert "solved" in page.inner_text(".people")

    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") != "cm-content"
    page.click("button:has-text('Problems')")
    page.wait_for_selector("dialog[open]")
    assert "Sinusoidal" in page.inner_text(".tracks [aria-current]")
    page.keyboard.press("Escape")
    soon(lambda: page.query_selector("dialog[open]") is None)
