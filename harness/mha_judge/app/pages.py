"""The tabs of a problem: its statement, checks, report, hints, and one's notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.timer import Timer
from textual.widgets import Static, TabbedContent, TabPane

from mha_judge.app import drawing
from mha_judge.app.session import Session
from mha_judge.errors import JudgeError

if TYPE_CHECKING:  # they are imported when they are needed: the first picture comes before
    from textual.widgets import Markdown, TextArea

NAMES = ("task", "checks", "report", "hints", "notes")
"""The tabs in their order; a number key goes to each."""
_SAVE_AFTER_S = 0.4
"""Seconds without a key after which notes are kept."""


class Page(VerticalScroll):
    """Something to read, which scrolls."""

    DEFAULT_CSS = "Page { padding: 0 1; scrollbar-size-vertical: 1; }"

    def compose(self) -> ComposeResult:
        yield Static()

    def show(self, content: RenderableType) -> None:
        self.query_one(Static).update(content)


class Statement(VerticalScroll):
    """What a problem asks, from Markdown."""

    DEFAULT_CSS = """
    Statement {
        padding: 0 1;
        scrollbar-size-vertical: 1;
        Markdown { padding: 0; margin: 0; background: transparent; }
        MarkdownFence > Label { width: 1fr; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[str, str, bool] | None = None
        self._markdown: Markdown | None = None

    async def show(self, session: Session) -> None:
        """Show the open problem's statement, unless it is there."""
        if session.current is None:
            return
        wanted = (session.current.id, session.language, session.shows_fine_print)
        if self._shown == wanted:
            return
        stays = self._shown is not None and self._shown[:2] == wanted[:2]
        self._shown = wanted
        if self._markdown is None:
            from textual.widgets import Markdown

            self._markdown = Markdown(open_links=False)
            await self.mount(self._markdown)
        if not stays:
            self.scroll_home(animate=False)
        await self._markdown.update(session.statement())


class Notes(Vertical):
    """What one wants to remember of a problem; kept while one types."""

    DEFAULT_CSS = """
    Notes {
        padding: 0 1;
        Static { height: auto; color: $text-muted; }
        TextArea { height: 1fr; padding: 0; &, &:focus { border: none; } }
    }
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._problem: str | None = None
        self._kept = ""
        self._area: TextArea | None = None
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield Static()

    async def show(self) -> None:
        """Show what is kept for the open problem; what is being typed stays."""
        line = self._session.current
        if line is None:
            return
        if self._area is None:
            from textual.widgets import TextArea

            self._area = TextArea(show_line_numbers=False, tab_behavior="focus")
            await self.mount(self._area)
        told = self._session.words["notes for"].format(title=self._session.title(line))
        self.query_one(Static).update(Text(told))
        if line.id != self._problem:
            self.save()
            self._problem = line.id
        elif self._area.text != self._kept:
            return
        text = self._session.note(line.id)
        if text != self._area.text:
            self._area.load_text(text)
        self._kept = self._area.text

    def focus_text(self) -> None:
        if self._area is not None:
            self._area.focus()

    def save(self) -> None:
        """Keep what was typed."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self._area is None or self._problem is None or self._area.text == self._kept:
            return
        self._kept = self._area.text
        self._session.put_note(self._problem, self._kept)

    def on_text_area_changed(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(_SAVE_AFTER_S, self.save)

    def on_descendant_blur(self, _: events.DescendantBlur) -> None:
        self.save()

    def on_unmount(self) -> None:
        self.save()


class Leaf(TabPane):
    """A tab's content. That it has focus turns no page: only what is seen can have it, and a page
    that was turned meanwhile would be turned back.
    """

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        event.prevent_default()


class Pages(Vertical):
    """The tabs; only the one that is seen is drawn."""

    DEFAULT_CSS = """
    Pages {
        height: 1fr;
        TabbedContent, ContentSwitcher { height: 1fr; }
        TabPane { height: 1fr; padding: 0; }
    }
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session

    def compose(self) -> ComposeResult:
        words = self._session.words
        with TabbedContent(initial=NAMES[0]):
            with Leaf(words["task"], id="task"):
                yield Statement()
            for name in ("checks", "report", "hints"):
                with Leaf(words[name], id=name):
                    yield Page()
            with Leaf(words["notes"], id="notes"):
                yield Notes(self._session)

    @property
    def active(self) -> str:
        """The name of the tab that is seen."""
        return self.query_one(TabbedContent).active

    def turn_to(self, name: str) -> None:
        """Show a tab."""
        self.query_one(TabbedContent).active = name

    def rename(self) -> None:
        """Name the tabs in the language that is chosen now."""
        tabs = self.query_one(TabbedContent)
        for name in NAMES:
            tabs.get_tab(name).label = Text(self._session.words[name])

    @property
    def notes(self) -> Notes:
        return self.query_one(Notes)

    async def draw(self) -> None:
        """Show the tab that is seen as things stand now."""
        if self._session.current is None:
            return
        name = self.active
        try:
            if name == "task":
                await self.query_one(Statement).show(self._session)
            elif name == "notes":
                await self.notes.show()
            elif name:
                self.query_one(f"#{name}", TabPane).query_one(Page).show(self._content(name))
        except (JudgeError, OSError) as error:  # the bank has changed, or is gone
            self.notify(str(error), severity="warning", markup=False)

    def focus_page(self) -> None:
        """Let keys scroll the tab that is seen, or write in it."""
        if self.active == "notes":
            self.notes.focus_text()
        elif self.active == "task":
            self.query_one(Statement).focus()
        else:
            self.query_one(f"#{self.active}", TabPane).query_one(Page).focus()

    def _content(self, name: str) -> RenderableType:
        session = self._session
        assert session.current is not None
        if name == "checks":
            return drawing.checks(session.answer, session.language, session.words)
        if name == "hints":
            return drawing.hints(session.told(), session.words)
        return drawing.report(
            session.answer, session.language, session.words, told=session.mistakes_told()
        )
