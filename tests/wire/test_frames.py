"""Frames arrive as they were sent, and nothing else that arrives is taken for one."""

import json
import struct
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mha_judge.wire import PREFIX, FrameReader, WireError, encode_frame
from mha_judge.wire.bounds import MAX_HEADER_BYTES

BOUND = 1000


def reader_of(data: bytes, bound: int = BOUND) -> FrameReader:
    reader = FrameReader(bound)
    reader.feed(data)
    return reader


def raw_frame(header: bytes, payload: bytes = b"", magic: bytes = b"MHJ1") -> bytes:
    return PREFIX.pack(magic, len(header), len(payload)) + header + payload


@given(
    st.lists(
        st.tuples(
            st.dictionaries(st.text(max_size=9), st.integers() | st.text(max_size=9), max_size=3),
            st.binary(max_size=50),
        ),
        max_size=4,
    ),
    st.integers(1, 40),
)
def test_frames_arrive_whole_and_in_order_however_the_stream_is_cut(frames, step):
    stream = b"".join(encode_frame(header, payload) for header, payload in frames)
    reader = FrameReader(BOUND)

    found = []
    for start in range(0, len(stream), step):
        reader.feed(stream[start : start + step])
        while (frame := reader.next_frame()) is not None:
            found.append(frame)

    assert found == frames
    assert reader.next_frame() is None


def test_the_layout_is_magic_lengths_header_payload():
    assert encode_frame({"a": 1}, b"xyz") == b"MHJ1" + struct.pack(">IQ", 7, 3) + b'{"a":1}xyz'


@pytest.mark.parametrize("missing", [1, 3, 10, 16, 20])
def test_a_truncated_frame_is_awaited_and_never_returned(missing):
    stream = encode_frame({"id": 1}, b"payload")

    reader = reader_of(stream[:-missing])

    assert reader.next_frame() is None
    reader.feed(stream[-missing:])
    assert reader.next_frame() == ({"id": 1}, b"payload")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (raw_frame(b"{}", magic=b"MHJ2"), "not a frame"),
        (b"Traceback (most recent call last):", "not a frame"),
        (PREFIX.pack(b"MHJ1", MAX_HEADER_BYTES + 1, 0), f"header of {MAX_HEADER_BYTES + 1} bytes"),
        (PREFIX.pack(b"MHJ1", 2**32 - 1, 0), "header of 4294967295 bytes"),
        (PREFIX.pack(b"MHJ1", 2, BOUND + 1), f"payload of {BOUND + 1} bytes; at most {BOUND}"),
        (PREFIX.pack(b"MHJ1", 2, 2**64 - 1), f"payload of {2**64 - 1} bytes"),
        (raw_frame(b"{'a': 1}"), "not JSON"),
        (raw_frame(b""), "not JSON"),
        (raw_frame(b"\xff\xfe"), "not JSON"),
        (raw_frame(b'{"a": ' + b"9" * 5000 + b"}"), "not JSON"),
        (raw_frame(b"[" * 200_000 + b"]" * 200_000), "not JSON"),
        (raw_frame(b"[1]"), "not an object"),
        (raw_frame(b"null"), "not an object"),
    ],
)
def test_what_cannot_become_a_frame_is_refused(data, message):
    with pytest.raises(WireError, match=message):
        reader_of(data).next_frame()


def test_an_oversize_claim_is_refused_before_anything_is_allocated_for_it():
    reader = reader_of(PREFIX.pack(b"MHJ1", 2, 2**40))
    tracemalloc.start()

    with pytest.raises(WireError):
        reader.next_frame()

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1024**2


def test_a_payload_of_exactly_the_bound_passes():
    assert reader_of(encode_frame({}, bytes(BOUND))).next_frame() == ({}, bytes(BOUND))


def test_a_header_too_large_to_be_read_is_not_sent():
    with pytest.raises(WireError, match="at most"):
        encode_frame({"text": "x" * MAX_HEADER_BYTES})


def test_nan_is_no_json_and_is_not_sent():
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode_frame({"x": float("nan")})


def _ends_in_frames_or_a_wire_error(data: bytes) -> None:
    reader = FrameReader(BOUND)
    try:
        reader.feed(data)
        while (frame := reader.next_frame()) is not None:
            assert isinstance(frame[0], dict)
    except WireError:
        pass


@given(st.binary(max_size=200))
def test_arbitrary_bytes_raise_nothing_but_wire_errors(data):
    _ends_in_frames_or_a_wire_error(data)


@given(st.binary(max_size=60), st.binary(max_size=20), st.integers(0, 30))
def test_arbitrary_headers_raise_nothing_but_wire_errors(header, payload, cut):
    frame = raw_frame(header, payload)

    _ends_in_frames_or_a_wire_error(frame[: len(frame) - cut])


@given(
    st.recursive(
        st.none() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_any_json_is_a_header_exactly_if_it_is_an_object(value):
    data = raw_frame(json.dumps(value).encode())

    if isinstance(value, dict):
        frame = reader_of(data, 0).next_frame()
        assert frame is not None
        assert frame[0].keys() == value.keys()
    else:
        with pytest.raises(WireError):
            reader_of(data).next_frame()
