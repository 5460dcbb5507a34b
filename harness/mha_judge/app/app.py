"""The app: its screens, its colours, and what concerns the window as a whole."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

from textual import events
from textual.app import App
from textual.screen import Screen
from textual.theme import Theme

from mha_judge.app.dialogs import LEAST_COLUMNS, LEAST_ROWS, TooSmall
from mha_judge.app.drawing import BLUE, ORANGE, SURFACE
from mha_judge.app.main_screen import MainScreen
from mha_judge.app.session import Session

_THEME = Theme(
    name="mha-judge",
    primary=BLUE,
    secondary="#0072b2",
    accent=ORANGE,
    warning=ORANGE,
    error="#d55e00",
    success=BLUE,
    foreground="#e0e0e0",
    surface=SURFACE,
    dark=True,
)
_WIDE = 100
"""Columns from which the list of problems need not make room for what one reads."""


class PracticeApp(App[None]):
    """Practising in a terminal."""

    ENABLE_COMMAND_PALETTE = False
    TITLE = "mha-judge practice"
    CSS = "ToastRack { margin-bottom: 2; } Toast { width: 56; max-width: 100%; }"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_WIDE, "-wide")]  # noqa: RUF012 - as Textual has it

    def __init__(self, session: Session) -> None:
        """Take what can be done; whoever made the session closes it when the app has ended."""
        super().__init__()
        self.session = session
        self.register_theme(_THEME)
        self.theme = _THEME.name
        self.main_screen = MainScreen(session)

    def get_default_screen(self) -> Screen[Any]:
        return self.main_screen

    def on_mount(self) -> None:
        """Leave the terminal as it was when one is told to end."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.exit)

    def on_resize(self, event: events.Resize) -> None:
        """Say that the window is too small, for as long as it is."""
        columns, rows = event.size
        small = columns < LEAST_COLUMNS or rows < LEAST_ROWS
        shown = self.screen
        if isinstance(shown, TooSmall):
            if small:
                shown.show(columns, rows)
            else:
                self.pop_screen()
        elif small:
            told = TooSmall(self.session.words)
            self.push_screen(told)
            told.call_after_refresh(told.show, columns, rows)

    async def on_app_focus(self) -> None:
        """Look at what was done elsewhere while one was away."""
        if self.main_screen.is_mounted:
            await self.main_screen.reread()

    async def action_quit(self) -> None:
        self.session.background.cancel()
        self.exit()

    def action_help_quit(self) -> None:
        """Say how to quit to whoever pressed Ctrl+C."""
        self.notify(self.session.words["how to quit"], markup=False)
