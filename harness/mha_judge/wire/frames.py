"""Length-prefixed frames: a JSON object, then raw bytes.

    4 bytes magic | 4 bytes header length | 8 bytes payload length | header | payload

Lengths are big-endian. A frame with another magic, a header over `MAX_HEADER_BYTES` or a payload
over the reader's bound is refused before anything is allocated for it.
"""

import contextlib
import fcntl
import json
import struct
from typing import Any

from mha_judge.wire.bounds import MAX_HEADER_BYTES

PROTOCOL = 12
"""Rises when judge and worker of different versions would no longer understand each other.

An image is labelled with the number its worker speaks, and the judge compares.
"""

MAGIC = b"MHJ1"
PREFIX = struct.Struct(">4sIQ")
_PIPE_BYTES = 1 << 20
"""What a pipe may hold: otherwise a frame of 1 MiB would be passed on in 16 pieces."""


class WireError(Exception):
    """The peer sent something that is not a frame, or a frame that is too large."""


def encode_frame(header: dict[str, Any], payload: bytes = b"") -> bytes:
    """Return the bytes of one frame.

    Raises:
        WireError: If the header is too large to be sent.
    """
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode("utf-8")
    if len(text) > MAX_HEADER_BYTES:
        raise WireError(f"a header of {len(text)} bytes; at most {MAX_HEADER_BYTES} may be sent")
    return PREFIX.pack(MAGIC, len(text), len(payload)) + text + payload


class FrameReader:
    """Cuts a stream of bytes into frames; feed it what has arrived, ask it for what is whole."""

    def __init__(self, max_payload_bytes: int) -> None:
        self._max_payload_bytes = max_payload_bytes
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        self._buffer += data

    def next_frame(self) -> tuple[dict[str, Any], bytes] | None:
        """Return the next whole frame, or None while it has not all arrived.

        Raises:
            WireError: If what has arrived cannot become a frame.
        """
        frame = read_frame(self._buffer, self._max_payload_bytes)
        if frame is None:
            return None
        header, payload, end = frame
        del self._buffer[:end]
        return header, payload


def read_frame(
    data: bytes | bytearray, max_payload_bytes: int
) -> tuple[dict[str, Any], bytes, int] | None:
    """Return the frame that some bytes begin with, and where it ends; None if it is not whole.

    Raises:
        WireError: If the bytes cannot become a frame.
    """
    if len(data) < PREFIX.size:
        return None
    magic, header_size, payload_size = PREFIX.unpack_from(data)
    if magic != MAGIC:
        raise WireError("bytes that are not a frame")
    if header_size > MAX_HEADER_BYTES:
        raise WireError(f"a header of {header_size} bytes; at most {MAX_HEADER_BYTES}")
    if payload_size > max_payload_bytes:
        raise WireError(f"a payload of {payload_size} bytes; at most {max_payload_bytes}")
    body = PREFIX.size + header_size
    end = body + payload_size
    if len(data) < end:
        return None
    with memoryview(data) as view:  # a slice of the buffer itself would be copied twice
        return _parse(bytes(view[PREFIX.size : body])), bytes(view[body:end]), end


def widen(pipe: int) -> int:
    """Let a pipe hold more, where the system allows it; return how many bytes it holds."""
    with contextlib.suppress(OSError):
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ)


def _parse(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise WireError("a header that is not JSON") from error
    if not isinstance(header, dict):
        raise WireError("a header that is not an object")
    return header
