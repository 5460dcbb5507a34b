"""The list of problems by track, and above it what is next."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group
from rich.text import Text
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from mha_judge.app import drawing
from mha_judge.app.session import Overview, Session
from mha_judge.bank.listing import TRACKS

_NEXT, _PROBLEM = "next:", "problem:"


class Contents(OptionList):
    """What there is to solve; choosing a line says which problem is meant."""

    DEFAULT_CSS = """
    Contents {
        height: 1fr;
        max-height: 100%;
        padding: 0 1;
        background: $surface;
        text-wrap: nowrap;
        text-overflow: ellipsis;
        scrollbar-size-vertical: 1;
        &, &:focus { border: none; }
        & > .option-list--option-disabled { color: $text-muted; text-style: bold; }
        & > .option-list--option-highlighted { background: $primary 20%; color: $foreground; }
        &:focus > .option-list--option-highlighted {
            background: $primary 35%; color: $foreground; text-style: bold;
        }
    }
    """

    def draw(self, session: Session, overview: Overview | None) -> None:
        """Show how one stands now; the line that is chosen stays so."""
        chosen = self.highlighted_option
        scrolled = self.scroll_offset
        self.set_options(self._entries(session, overview))
        ids = [option.id for option in self.options]
        first_look = chosen is None or not (chosen.id or "").startswith(_PROBLEM)
        if not first_look and chosen is not None and chosen.id in ids:
            self.highlighted = ids.index(chosen.id)
            self.scroll_to(y=scrolled.y, animate=False)
        elif ids and (ids[0] or "").startswith(_NEXT):
            self.highlighted = 0

    @staticmethod
    def problem_of(option: Option) -> str:
        """Return the problem that a line stands for."""
        return (option.id or "").removeprefix(_NEXT).removeprefix(_PROBLEM)

    def _entries(self, session: Session, overview: Overview | None) -> Iterator[Option]:
        words = session.words
        yield from self._proposed(session, overview)
        for track, lines in session.tracks.items():
            name = TRACKS.get(track, track) if session.language == "zh" else track
            yield Option(Text(name), disabled=True)
            for line in lines:
                mark = drawing.mark_of(overview, line.id)
                row = drawing.ProblemRow(line, session.title(line), mark)
                yield Option(row, id=_PROBLEM + line.id)
        if not session.tracks:
            yield Option(Text(words["all done"]), disabled=True)

    def _proposed(self, session: Session, overview: Overview | None) -> Iterator[Option]:
        words = session.words
        if overview is None:
            yield Option(Text(f"{words['next']}: {words['looking']}\n"), disabled=True)
            return
        for one in overview.proposals[:1]:
            line = session.summary(one.problem)
            if line is not None:
                row = drawing.proposal_row(session.title(line), one.why, words)
                yield Option(Group(row), id=_NEXT + one.problem)  # which wraps, as a text does not
        if not overview.proposals:
            yield Option(Text(words["all done"]), disabled=True)
