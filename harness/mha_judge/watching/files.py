"""The files that are watched, and which of them have changed.

The folders are watched and not the files: many editors write a new file and rename it over the old
one, and a file that is deleted may come back.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from pathlib import Path

from watchfiles import Change, watch

from mha_judge.errors import UsageError

_SETTLE_MS = 120
"""Milliseconds without a change after which a burst of writes counts as one save."""


class Watched:
    """Python files, named one by one or as the folders that hold them."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Take files and folders.

        Raises:
            UsageError: If a path does not exist.
        """
        for path in paths:
            if not path.exists():
                raise UsageError(f"{path} does not exist; name a file or a folder")
        self._folders = [path.resolve() for path in paths if path.is_dir()]
        self._files = [path.resolve().parent / path.name for path in paths if not path.is_dir()]
        self._changed: queue.Queue[Path] = queue.Queue()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def files(self) -> list[Path]:
        """Return the files there are now: those that were named, then those in the folders."""
        inside = [path for folder in self._folders for path in sorted(folder.glob("*.py"))]
        return [path for path in dict.fromkeys([*self._files, *inside]) if path.exists()]

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(timeout=5)

    def changed(self) -> list[Path]:
        """Return the files that have changed since the last call, each once."""
        found: dict[Path, None] = {}
        while True:
            try:
                found[self._changed.get_nowait()] = None
            except queue.Empty:
                return list(found)

    def _run(self) -> None:
        roots = {*self._folders, *(path.parent for path in self._files)}
        batches = watch(
            *sorted(roots),
            watch_filter=self._concerns,
            stop_event=self._stop,
            step=_SETTLE_MS,
            debounce=10 * _SETTLE_MS,
            recursive=False,
            raise_interrupt=False,
            rust_timeout=500,
        )
        for batch in batches:
            for _, path in sorted(batch, key=lambda change: change[1]):
                self._changed.put(Path(path))

    def _concerns(self, change: Change, path: str) -> bool:
        found = Path(path)
        return found in self._files or (found.suffix == ".py" and found.parent in self._folders)
