"""Makes pictures of every view of the pages, with Chromium: `make pictures`.

Those that the documentation shows go beside the README's; all others are for whoever changes a page
to look at, in build/views.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import dropwhile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from chromium import PROGRAM as CHROMIUM  # noqa: E402 as tests find it
from desks import Desk  # noqa: E402 the servers as tests start them
from rooms import Rooms  # noqa: E402

SHOWN = ROOT / "examples" / "pictures"
ALL = ROOT / "build" / "views"
SUBMISSIONS = ROOT / "tests" / "submissions"
PROBLEM = "gqa"
WRONG = SUBMISSIONS / PROBLEM / "wrong_tiled_by_rearrange.py"
RIGHT = SUBMISSIONS / PROBLEM / "right_repeat_interleave.py"
NEXT_RUN = {"en": "Next run", "zh": "下一次运行"}
SIZES = {"wide": (1280, 800), "tablet": (820, 1180), "phone": (390, 844)}


def main() -> None:
    """Draw rooms and practice, in both languages, light and dark, on three sizes of screen."""
    if CHROMIUM is None:
        sys.exit("make pictures draws pages with Chromium; install it, and try again")
    ALL.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for language in ("en", "zh"):
            with tempfile.TemporaryDirectory() as folder:
                _draw_room(browser, Path(folder), language)
            with tempfile.TemporaryDirectory() as folder:
                _draw_practice(browser, Path(folder), language)
        browser.close()
    for name in ("room", "practice"):
        shutil.copyfile(ALL / f"{name}.en.wide.png", SHOWN / f"{name}.png")


@contextmanager
def _page(browser: Browser, link: str) -> Iterator[Page]:
    width, height = SIZES["wide"]
    context = browser.new_context(viewport={"width": width, "height": height})
    page = context.new_page()
    page.set_default_timeout(20_000)
    page.goto(link)
    yield page
    context.close()


def _draw(page: Page, name: str) -> None:
    """Draw a view on screens of all sizes, and dark."""
    for size, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(200)
        page.screenshot(path=ALL / f"{name}.{size}.png")
    width, height = SIZES["wide"]
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(200)
    page.screenshot(path=ALL / f"{name}.dark.png")
    page.emulate_media(color_scheme="light")


def _write(page: Page, source: Path) -> None:
    page.focus(".cm-content")
    page.keyboard.press("Control+a")
    lines = source.read_text("utf-8").splitlines(keepends=True)
    page.keyboard.insert_text("".join(dropwhile(lambda line: line.startswith("#"), lines)).lstrip())
    page.keyboard.press("Control+Home")


def _draw_room(browser: Browser, folder: Path, language: str) -> None:
    rooms = Rooms(folder, PROBLEM, "sdpa", options=("--lang", language))
    (candidate, _, _), (interviewer, _, _) = rooms.links
    with _page(browser, candidate) as one, _page(browser, interviewer) as other:
        for page in (one, other):
            page.wait_for_selector(".cm-content")
        _write(one, WRONG)
        one.keyboard.press("Control+Enter")
        for page, name in ((one, "candidate"), (other, "room")):
            page.wait_for_selector(".verdict.rejected")
            _draw(page, f"{name}.{language}")
        _write(one, RIGHT)
        one.keyboard.press("Control+Enter")
        other.wait_for_selector(".verdict.accepted")
        other.goto(f"{other.url}/record")
        other.wait_for_selector(".cm-content")
        for _ in range(2):
            other.get_by_role("button", name=NEXT_RUN[language]).click()
        other.wait_for_selector(".verdict.accepted")
        _draw(other, f"record.{language}")
    rooms.stop()


def _draw_practice(browser: Browser, folder: Path, language: str) -> None:
    desk = Desk(folder, "--lang", language)
    with _page(browser, desk.link) as page:
        page.wait_for_selector(".begin button")
        _draw(page, f"problem.{language}")
        page.click(".begin button >> nth=0")
        page.wait_for_selector(".cm-content")
        _write(page, SUBMISSIONS / "sinusoidal-positions" / "wrong_batch_axis.py")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector(".verdict.rejected")
        page.reload()  # what was said of the file is over
        page.wait_for_selector(".verdict.rejected")
        _draw(page, f"practice.{language}")
        page.click("header button >> nth=0")
        page.wait_for_selector("dialog[open]")
        _draw(page, f"problems.{language}")
        page.keyboard.press("Escape")
        page.goto(f"{desk.url}/progress")
        _draw(page, f"progress.{language}")
    desk.stop()


if __name__ == "__main__":
    main()
