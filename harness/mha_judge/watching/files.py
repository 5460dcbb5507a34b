"""The files that are watched, and which of them have changed.

The folders are watched and not the files: many editors write a new file and rename it over the old
one, and a file that is deleted may come back. A folder may go and come back as well; what the
system watches is the folder that is gone, so it is looked at whether it is still the same.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from watchfiles import Change, watch

from mha_judge.errors import UsageError

_SETTLE_MS = 120
"""Milliseconds without a change after which a burst of writes counts as one save."""
_LOOK_MS = 500
"""Milliseconds after which it is looked at whether the folders are still the same."""


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
        self._known = set(self.files())
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
        there = self._roots()
        fresh: set[Path] = set()
        while not self._stop.is_set():
            self._watch(there, fresh)
            before, there = there, self._roots()
            fresh = {root for root, identity in there.items() if before.get(root) != identity}
            for path in sorted(self._known):
                if not path.exists():
                    self._tell(path)

    def _roots(self) -> dict[Path, tuple[int, int]]:
        """Return the folders there are now, with what tells one from a later one of its name."""
        found = {}
        for root in {*self._folders, *(path.parent for path in self._files)}:
            try:
                status = root.stat()
            except OSError:
                continue
            found[root] = status.st_dev, status.st_ino
        return found

    def _watch(self, there: Mapping[Path, tuple[int, int]], fresh: Collection[Path]) -> None:
        """Tell what changes in folders until one is gone or back, or all is over.

        Args:
            there: The folders.
            fresh: Those of them that have come back, with files that nobody has looked at.
        """
        if not there:
            self._stop.wait(_LOOK_MS / 1000)
            return
        try:
            batches = watch(
                *sorted(there),
                watch_filter=self._concerns,
                stop_event=self._stop,
                step=_SETTLE_MS,
                debounce=10 * _SETTLE_MS,
                recursive=False,
                raise_interrupt=False,
                rust_timeout=_LOOK_MS,
                yield_on_timeout=True,
            )
            unseen = fresh
            for batch in batches:  # from here on nothing is missed
                found = [Path(path) for _, path in sorted(batch, key=lambda change: change[1])]
                found += [path for path in self.files() if path.parent in unseen]
                unseen = ()
                for path in dict.fromkeys(found):
                    self._tell(path)
                if self._roots() != there:
                    return
        except FileNotFoundError:  # a folder has gone before it could be watched
            return

    def _tell(self, path: Path) -> None:
        """Pass on that a file has changed; that it is gone, once."""
        if path.exists():
            self._known.add(path)
        elif path in self._known:
            self._known.discard(path)
        else:
            return
        self._changed.put(path)

    def _concerns(self, change: Change, path: str) -> bool:
        found = Path(path)
        return found in self._files or (found.suffix == ".py" and found.parent in self._folders)
