"""The screen one works at: problems on the left, the open one on the right, keys at the bottom."""

from __future__ import annotations

import gc
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Key
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, OptionList, Static

from mha_judge.app import drawing, editor
from mha_judge.app.contents import Contents
from mha_judge.app.dialogs import Question, Rating, Reading, translated
from mha_judge.app.grading import Checked, Event, Graded
from mha_judge.app.pages import NAMES, Pages
from mha_judge.app.session import Began, Mark, Overview, Session, State
from mha_judge.errors import JudgeError
from mha_judge.practice.progress import End

_LOOK_FOR_SAVES_S = 0.1
_REDRAW_S = 5.0
"""Seconds after which time and what another program has kept are read again."""


class Told(Message):
    """Grading has something to tell."""

    def __init__(self, event: Event) -> None:
        super().__init__()
        self.event = event


class Looked(Message):
    """What is done and what comes next was found out."""

    def __init__(self, number: int, overview: Overview | None, why: str = "") -> None:
        super().__init__()
        self.number, self.overview, self.why = number, overview, why


class EditorFailed(Message):
    """An editor that had been started did not end well."""

    def __init__(self, why: str) -> None:
        super().__init__()
        self.why = why


class MainScreen(Screen[None]):
    """Where one chooses, begins, hands in, and reads what came of it."""

    DEFAULT_CSS = """
    MainScreen {
        #left { width: 28; }
        #right { width: 1fr; }
        #heading, #status { height: 1; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
        #status { background: $panel; }
        &.-wide #left { width: 36; }
        &.-narrow.-reading #left { display: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "key back", key_display="Esc"),
        Binding("enter", "begin", show=False),
        Binding("b", "begin", "key begin"),
        Binding("e", "edit", "key edit"),
        Binding("r", "grade", "key grade"),
        Binding("x", "stop", "key stop"),
        Binding("h", "hint", "key hint"),
        Binding("s", "solution", "key solution"),
        Binding("v", "rate", "key rating"),
        Binding("n", "notes", "key notes"),
        Binding("f", "fine_print", show=False),
        Binding("l", "language", "key language"),
        Binding("question_mark", "help", "key help", key_display="?"),
        Binding("q", "app.quit", "key quit"),
        *(
            Binding(str(number), f"turn('{name}')", show=False)
            for number, name in enumerate(NAMES, 1)
        ),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self._contents = Contents()
        self._pages = Pages(session)
        self._overview: Overview | None = None
        self._looks = 0
        self._state = State(None)
        self._panes: dict[str, str] = {}
        self._trouble = ""

    def compose(self) -> ComposeResult:
        with Horizontal():
            with Vertical(id="left"):
                yield self._contents
            with Vertical(id="right"):
                yield Static(id="heading")
                yield self._pages
        yield Static(id="status")
        yield Footer(compact=True, show_command_palette=False)

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        return translated(super().active_bindings, self.session.words)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what can be done with the open problem now."""
        if action == "back":
            return self.has_class("-reading") or self.focused is not self._contents
        return not self._lacks(action)

    def on_key(self, event: Key) -> None:
        """Say why a key does nothing now; it comes here if nothing has taken it."""
        for binding in self.BINDINGS:
            assert isinstance(binding, Binding)
            if binding.key == event.key and (lacks := self._lacks(binding.action)):
                self.tell(self.session.words[lacks].format(path=self._state.path), wrong=True)

    def _lacks(self, action: str) -> str:
        """Return the name of the words that say why something cannot be done now, if it cannot."""
        if action not in ("begin", "edit", "grade", "stop", "hint", "solution", "rate"):
            return ""
        if self.session.current is None:
            return "nothing open"
        if action == "stop":
            return "" if self.session.is_grading else "nothing to stop"
        state = self._state
        if action == "begin":
            return "already begun" if self._works else ""
        if action == "rate":
            return "" if state.may_rate else "not rated"
        is_over = state.end in (End.SOLVED, End.GIVEN_UP)
        if action == "hint" and is_over:
            return "no hints any more"
        can = {"hint": state.is_open, "solution": state.is_open or is_over}
        return "" if can.get(action, state.path is not None) else "begin first"

    # starting, and what comes by itself

    def on_mount(self) -> None:
        self._contents.draw(self.session, None)
        self.session.background.listen(lambda event: self._post(Told(event)))
        self.call_after_refresh(self._start)

    async def _start(self) -> None:
        """Do what the first picture need not wait for."""
        gc.freeze()
        gc.enable()
        self.set_interval(_LOOK_FOR_SAVES_S, self._look_for_saves)
        self.set_interval(_REDRAW_S, self._draw_status)
        if self.session.notice:
            self.tell(self.session.notice)
        self.look()
        if self.session.first is not None:
            await self._open_first(self.session.first)

    async def _open_first(self, problem: str) -> None:
        """Show a statement, and start the judge once there is something to read meanwhile."""
        await self._open(problem)
        self.call_after_refresh(self.session.background.warm_up)

    def _post(self, message: Message) -> None:
        """Hand over a message from another thread; there may be nobody any more."""
        try:
            self.post_message(message)
        except RuntimeError:  # the loop has ended meanwhile
            return

    def look(self) -> None:
        """Find out anew what is done and what comes next, in the background."""
        self._looks += 1
        number = self._looks

        def work() -> None:
            try:
                self._post(Looked(number, self.session.overview()))
            except (JudgeError, OSError) as error:
                self._post(Looked(number, None, str(error)))

        self.run_worker(work, thread=True, group="look", exclusive=True)

    async def on_looked(self, message: Looked) -> None:
        if message.number != self._looks:
            return
        if message.overview is None:
            self.tell(message.why, wrong=True)
        else:
            self._overview = message.overview
        self._contents.draw(self.session, self._overview)
        if self.session.current is None:
            proposed = [one.problem for one in self._overview.proposals] if self._overview else []
            every = [line.id for lines in self.session.tracks.values() for line in lines]
            for problem in [*proposed, *every][:1]:
                await self._open_first(problem)

    async def on_told(self, message: Told) -> None:
        event = message.event
        if not self.session.take_event(event):
            return
        current = self.session.current
        shown = current is not None and current.id == event.asked.problem
        if isinstance(event, Checked):
            if shown:
                await self._draw_page("checks")
            self._draw_status()
            return
        self.look()
        if not shown:
            return
        pages = self._pages
        if isinstance(event, Graded) and pages.active == "checks":
            self._turn_to("report")
        await self.draw()

    async def _look_for_saves(self) -> None:
        saved = self.session.saved()
        current = self.session.current
        if not saved or current is None:
            return
        if current.id not in saved:
            await self._open(saved[0])
        await self._grade()

    def on_editor_failed(self, message: EditorFailed) -> None:
        self.tell(message.why, wrong=True)

    async def reread(self) -> None:
        """Show what another program may have kept meanwhile."""
        if self.session.current is not None:
            await self._open(self.session.current.id)
        self.look()

    # drawing

    def tell(self, text: str, *, wrong: bool = False) -> None:
        """Show a sentence for a while."""
        self.notify(text, severity="warning" if wrong else "information", markup=False)

    async def draw(self) -> None:
        """Show the open problem as things stand now."""
        self._draw_status()
        await self._pages.draw()

    async def _draw_page(self, name: str) -> None:
        pages = self._pages
        if pages.active == name:
            await pages.draw()

    def _draw_status(self) -> None:
        session = self.session
        line = session.current
        if line is None:
            return
        self._state = session.state()
        if session.trouble != self._trouble:
            self._trouble = session.trouble
            if session.trouble:
                self.tell(session.trouble, wrong=True)
        heading = drawing.heading(line, session.title(line), session.words)
        self.query_one("#heading", Static).update(heading)
        told = drawing.status(
            self._state,
            session.words,
            grading=session.is_grading,
            checks=session.checks_done,
            trouble=session.trouble,
        )
        if not told.plain:
            told = Text(session.words["not begun"].format(folder=session.folder.resolve()), "dim")
        self.query_one("#status", Static).update(told)
        self.refresh_bindings()

    @property
    def _works(self) -> bool:
        """Whether a round is open whose file is there."""
        path = self._state.path
        return self._state.is_open and path is not None and path.exists()

    def _turn_to(self, name: str) -> None:
        pages = self._pages
        had_focus = self.focused is not self._contents
        pages.turn_to(name)
        if had_focus:
            self.call_after_refresh(pages.focus_page)

    async def on_tabbed_content_tab_activated(self) -> None:
        await self._pages.draw()

    # what one does

    async def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        problem = Contents.problem_of(event.option)
        current = self.session.current
        again = current is not None and current.id == problem and self.has_class("-reading")
        await self._open(problem)
        self.add_class("-reading")
        self._pages.focus_page()
        if again and self.check_action("begin", ()):
            await self.action_begin()

    async def _open(self, problem: str) -> None:
        changes = self.session.current is None or self.session.current.id != problem
        pages = self._pages
        if changes:
            pages.notes.save()
        try:
            self.session.open(problem)
        except JudgeError as error:
            self.tell(str(error), wrong=True)
            return
        if changes:
            pages.turn_to("task")
        await self.draw()
        if self._state.is_open and not self._works:
            path = self._state.path
            self.tell(self.session.words["file gone"].format(path=path), wrong=True)

    def action_back(self) -> None:
        self._pages.notes.save()
        self.remove_class("-reading")
        self._contents.focus()

    async def action_begin(self) -> None:
        try:
            began, path = self.session.begin()
        except JudgeError as error:
            self.tell(str(error), wrong=True)
            return
        self.tell(self.session.words[began.value].format(path=path))
        if began is not Began.GOES_ON:
            self.look()
        await self.draw()

    def action_edit(self) -> None:
        path, language = self._state.path, self.session.language
        if path is None:
            return
        pane = self._panes.get(str(path))
        if pane and editor.show_again(pane):
            return
        try:
            size = (self.app.size.width, self.app.size.height)
            made = editor.plan(path, self.session.edit_cmd, size, language)
            if made.manner is editor.Manner.WINDOW:
                editor.start(made, language, lambda why: self._post(EditorFailed(why)))
            elif made.manner is editor.Manner.PANE:
                said = editor.run(made, language)
                self._panes[str(path)] = said if made.pane == "tmux" else ""
            else:
                self._edit_here(made)
        except JudgeError as error:
            self.tell(str(error), wrong=True)
        except SuspendNotSupported:
            self.tell(self.session.words["no terminal to lend"], wrong=True)

    def _edit_here(self, made: editor.Plan) -> None:
        """Lend the terminal to an editor.

        Raises:
            UsageError: If it cannot be started, or fails.
            SuspendNotSupported: If the app is not in a terminal of its own.
        """
        failed: JudgeError | None = None
        with self.app.suspend():  # an error that left this would leave the terminal as it is
            try:
                editor.run(made, self.session.language)
            except JudgeError as error:
                failed = error
        if failed is not None:
            raise failed

    async def action_grade(self) -> None:
        await self._grade()

    async def _grade(self) -> None:
        try:
            self.session.grade()
        except JudgeError as error:
            self.tell(str(error), wrong=True)
            return
        if self._pages.active != "notes":
            self._turn_to("checks")
        await self.draw()

    async def action_stop(self) -> None:
        self.session.stop()
        await self.draw()

    def action_hint(self) -> None:
        words = self.session.words
        try:
            offer, spent = self.session.offer()
        except JudgeError as error:
            self.tell(str(error), wrong=True)
            return
        which = "title" if offer.title else "mistake" if offer.mistake else "problem"
        what = words[f"for {which}"].format(title=offer.title)
        asked = words["offer"].format(
            rung=offer.rung + 1, rungs=offer.rungs, what=what, tells=words[offer.tells],
            price=offer.price, spent=spent,
        )  # fmt: skip

        async def take(yes: bool | None) -> None:
            if not yes:
                return
            try:
                self.session.take(offer)
            except JudgeError as error:
                self.tell(str(error), wrong=True)
                return
            self._turn_to("hints")
            await self.draw()

        self.app.push_screen(Question(f"{asked} {words['take it']}", words), take)

    def action_solution(self) -> None:
        session = self.session
        if session.current is None:
            return
        if session.may_see_solution():
            self._show_solution(given_up=False)
            return

        async def give_up(yes: bool | None) -> None:
            if not yes:
                return
            try:
                session.give_up()
            except JudgeError as error:
                self.tell(str(error), wrong=True)
                return
            self.look()
            await self.draw()
            self._show_solution(given_up=True)

        self.app.push_screen(Question(session.words["give up"], session.words), give_up)

    def _show_solution(self, *, given_up: bool) -> None:
        session = self.session
        assert session.current is not None
        try:
            found = session.solution()
        except JudgeError as error:
            self.tell(str(error), wrong=True)
            return
        content = drawing.solution(found, session.language, given_up=given_up)
        title = session.words["solution of"].format(title=session.title(session.current))
        self.app.push_screen(Reading(title, content, session.words))

    def action_rate(self) -> None:
        session = self.session
        if session.current is None:
            return

        async def rate(rating: str | None) -> None:
            if rating is None:
                return
            try:
                due = session.overrule(rating)
            except JudgeError as error:
                self.tell(str(error), wrong=True)
                return
            name = session.words[rating].partition(":")[0].partition("：")[0]
            day = f"{due.astimezone():%Y-%m-%d}"
            self.tell(session.words["rated"].format(rating=name, day=day))
            self.look()
            await self.draw()

        self.app.push_screen(Rating(session.title(session.current), session.words), rate)

    async def action_notes(self) -> None:
        if self.session.current is None:
            return
        self.add_class("-reading")
        pages = self._pages
        pages.turn_to("notes")
        await pages.draw()
        pages.focus_page()

    async def action_turn(self, name: str) -> None:
        self._turn_to(name)

    async def action_fine_print(self) -> None:
        self.session.shows_fine_print = not self.session.shows_fine_print
        self._turn_to("task")
        await self.draw()

    async def action_language(self) -> None:
        self.session.change_language()
        self._pages.rename()
        self._contents.draw(self.session, self._overview)
        self.look()
        await self.draw()

    def action_help(self) -> None:
        words = self.session.words
        text = words["help"].format(
            solved=Mark.SOLVED.value, open=Mark.OPEN.value, due=Mark.DUE.value, new=Mark.NEW.value,
            passed=drawing.PASSED, failed=drawing.FAILED,
        )  # fmt: skip
        self.app.push_screen(Reading(words["key help"], Text(text), words))
