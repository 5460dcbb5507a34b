"""What is asked or told above the main screen: questions, ratings, the solution, help."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from rich.console import RenderableType
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from mha_judge.app.words import Words

LEAST_COLUMNS, LEAST_ROWS = 60, 16
"""What the app needs; in less it says so."""
RATINGS = ("again", "hard", "good", "easy")


def translated(found: dict[str, ActiveBinding], words: Words) -> dict[str, ActiveBinding]:
    """Return bindings whose descriptions are names of words under these words."""
    return {
        key: one._replace(
            binding=dataclasses.replace(
                one.binding, description=words.get(one.binding.description, one.binding.description)
            )
        )
        for key, one in found.items()
    }


class Dialog(ModalScreen[ScreenResultType]):
    """A box above the main screen, with its keys at the bottom."""

    DEFAULT_CSS = """
    Dialog {
        align: center middle;
        & > Vertical {
            width: 72;
            max-width: 100%;
            height: auto;
            max-height: 100%;
            padding: 1 2;
            background: $surface;
            border: round $primary;
        }
        OptionList { padding: 0; background: $surface; &, &:focus { border: none; } }
    }
    """

    def __init__(self, words: Words) -> None:
        super().__init__()
        self.words = words

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        return translated(super().active_bindings, self.words)


class Question(Dialog[bool]):
    """Asks something that costs something: only an explicit yes is one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "key yes"),
        Binding("n,escape,enter", "answer(False)", "key no", key_display="n/Enter"),
    ]

    def __init__(self, text: str, words: Words) -> None:
        super().__init__(words)
        self._text = text

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Text(self._text))
        yield Footer(compact=True)

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)


class Rating(Dialog[str | None]):
    """Asks how well a problem was known; the answer is one of `RATINGS`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(str(number), f"rate('{name}')", show=False)
            for number, name in enumerate(RATINGS, 1)
        ),
        Binding("escape", "rate('')", "key close"),
    ]

    def __init__(self, title: str, words: Words) -> None:
        super().__init__(words)
        self._title = title

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Text(self.words["rate"].format(title=self._title) + "\n"))
            yield OptionList(
                *(
                    Option(Text(f"{number}  {self.words[name]}"), id=name)
                    for number, name in enumerate(RATINGS, 1)
                )
            )
        yield Footer(compact=True)

    def on_mount(self) -> None:
        self.query_one(OptionList).highlighted = RATINGS.index("good")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)

    def action_rate(self, rating: str) -> None:
        self.dismiss(rating or None)


class Reading(Dialog[None]):
    """Shows something that may be long: the solution, or help."""

    DEFAULT_CSS = """
    Reading > Vertical {
        width: 100%;
        height: 1fr;
        padding: 0 1;
        #title { text-style: bold; }
        VerticalScroll { height: 1fr; scrollbar-size-vertical: 1; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,s,question_mark", "close", "key close", key_display="Esc"),
    ]

    def __init__(self, title: str, content: RenderableType, words: Words) -> None:
        super().__init__(words)
        self._title, self._content = title, content

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Text(self._title), id="title")
            with VerticalScroll():
                yield Static(self._content)
        yield Footer(compact=True)

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def action_close(self) -> None:
        self.dismiss(None)


class TooSmall(Screen[None]):
    """Says that the window is too small, for as long as it is."""

    DEFAULT_CSS = "TooSmall { align: center middle; Static { text-align: center; padding: 0 1; } }"

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words

    def compose(self) -> ComposeResult:
        yield Static()

    def show(self, columns: int, rows: int) -> None:
        """Say which size there is, and which is needed."""
        told = self._words["too small"].format(
            columns=columns, rows=rows, least_columns=LEAST_COLUMNS, least_rows=LEAST_ROWS
        )
        self.query_one(Static).update(Text(told))
