"""What a container may be asked for."""

import pytest

from mha_judge.errors import SandboxUnavailable, UsageError
from mha_judge.sandbox.container.settings import Settings, parse_size
from mha_judge.sandbox.limits import Limits


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4096", 4096),
        ("512M", 512 * 1024**2),
        ("3G", 3 * 1024**3),
        ("3GiB", 3 * 1024**3),
        ("1.5g", 1536 * 1024**2),
        (" 2 T ", 2 * 1024**4),
    ],
)
def test_a_size_is_read_in_powers_of_1024(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "M", "-1G", "1X", "1e9", "0x10", "3 G M", "9" * 20])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(UsageError, match="is no size; write it like 512M or 3G"):
        parse_size(text)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"memory_bytes": 100 * 1024**2}, "cannot hold torch"),
        ({"cpus": 0.0}, "no number of processors"),
        ({"cpus": float("nan")}, "no number of processors"),
        ({"cpus": -1.0}, "no number of processors"),
        ({"tasks": 3}, "no number of tasks"),
        ({"scratch_bytes": 1024**3}, "scratch folder"),
    ],
)
def test_a_limit_that_cannot_be_meant_is_refused(values, message):
    with pytest.raises(UsageError, match=message):
        Settings(**values)


def test_the_defaults_hold_what_a_problem_allows_by_default():
    Settings().require_room_for(Limits())


def test_a_problem_that_allows_more_than_the_container_has_is_refused():
    with pytest.raises(SandboxUnavailable, match=r"allows 4096M .* has 3072M; pass --memory 4608M"):
        Settings().require_room_for(Limits(memory_bytes=4 * 1024**3))
    with pytest.raises(SandboxUnavailable, match="allows 128 threads and the container 128 tasks"):
        Settings().require_room_for(Limits(threads=128))
