"""Whether a file has changed."""

from pathlib import Path

FileVersion = tuple[int, int]
"""When a file was changed, in ns, and its size in bytes; zeros where there is none."""


def version_of(path: Path) -> FileVersion:
    """Return what changes whenever a file does."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
