"""A Chromium as it is installed, for tests and for `make pictures`, and what it is asked for."""

import shutil

_NAMES = ("chromium", "chromium-browser", "google-chrome")
PROGRAM = next(filter(None, map(shutil.which, _NAMES)), None)
TEXT = "document.querySelector('.cm-content').cmTile.view.state.doc.toString()"
"""All of an editor's text, also what is scrolled out of sight."""
