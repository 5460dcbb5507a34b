"""An engine that does not answer, or refuses: each message names the remedy."""

import errno
import gc
import sys

import pytest

from mha_judge.errors import SandboxUnavailable
from mha_judge.sandbox import SandboxOptions, Settings, options
from mha_judge.sandbox.container import Container, attached, engine, require
from mha_judge.sandbox.events import Surroundings
from mha_judge.wire import PROTOCOL

pytest.importorskip("docker")
from docker.errors import APIError, DockerException, ImageNotFound

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


@pytest.fixture(autouse=True)
def _collect():
    """Collect what the SDK leaves open when nothing answers while its warning is ignored."""
    yield
    gc.collect()


class Response:
    """As much of an answer as the SDK's error looks at."""

    status_code = 500
    reason = "Internal Server Error"
    url = "http+docker://localhost"


class FakeEngine:
    """Answers as an engine would that has one image, and keeps what it was asked to remove."""

    def __init__(self, labels=None, warnings=(), failure=None):
        self.labels, self.warnings, self.failure = labels, list(warnings), failure
        self.removed = []

    def inspect_image(self, name):
        if self.labels is None:
            raise ImageNotFound("no such image")
        return {"Id": "sha256:1234", "Config": {"Labels": self.labels}}

    def create_host_config(self, **flags):
        return flags

    def create_container(self, **arguments):
        if self.failure is not None:
            raise self.failure
        return {"Id": "made", "Warnings": self.warnings}

    def remove_container(self, name, force):
        self.removed.append(name)

    def close(self):
        pass


def refusal(explanation):
    return APIError("500 Server Error", response=Response(), explanation=explanation)


def unreachable(number):
    """Nest an error of the operating system as deep as the SDK's layers do."""
    inner = ConnectionError("Connection aborted.", OSError(number, "text"))
    return DockerException(f"Error while fetching server API version: {inner}", inner)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (unreachable(errno.ENOENT), "does not answer; start it"),
        (unreachable(errno.ECONNREFUSED), "does not answer; start it"),
        (unreachable(errno.EACCES), r"no permission to talk to Docker; join its group \(`sudo"),
        (unreachable(errno.ENOSPC), "the disk is full"),
        (DockerException("odd"), r"does not answer \(odd\); start it"),
        (refusal("mkdir /var/lib/docker/x: no space left on device"), "disk is full .* prune"),
        (refusal("Unknown runtime specified runsc"), "does not know this runtime .* register it"),
        (refusal("unknown or invalid runtime name: x"), "does not know this runtime .* register"),
        (refusal("OCI runtime start failed: unknown"), "Docker refused: OCI runtime start failed"),
        (refusal("something else"), "Docker refused: something else; see `docker info`"),
        (TimeoutError("read timed out"), "does not answer"),
    ],
    ids=str,
)
def test_an_error_of_the_engine_names_the_remedy(error, message):
    with pytest.raises(SandboxUnavailable, match=message) as raised, engine.explained():
        raise error

    assert raised.value.exit_code >= 3


@pytest.mark.parametrize(
    "host", ["unix:///nowhere/docker.sock", "tcp://127.0.0.1:9", "tcp://[", "nonsense"]
)
def test_an_engine_that_is_not_there_is_unavailable(monkeypatch, host):
    monkeypatch.setenv("DOCKER_HOST", host)

    assert "does not answer" in (Container().unavailable() or "")
    with pytest.raises(SandboxUnavailable, match="does not answer"):
        Container().open()


def test_without_a_socket_the_sdk_is_not_even_imported(monkeypatch, tmp_path):
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    monkeypatch.setattr(engine, "_SOCKET", tmp_path / "docker.sock")
    monkeypatch.delitem(sys.modules, "docker", raising=False)

    with pytest.raises(SandboxUnavailable, match="does not answer; start it"):
        engine.connect()
    assert "docker" not in sys.modules


def test_an_image_that_is_missing_is_to_be_built():
    with pytest.raises(
        SandboxUnavailable, match=r"no image .*; build it: `mha-judge sandbox build`"
    ):
        engine.usable_image(FakeEngine(), Settings.image)
    with pytest.raises(SandboxUnavailable, match="`mha-judge sandbox build --tag mine`"):
        engine.usable_image(FakeEngine(), "mine")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({engine.PROTOCOL_LABEL: str(PROTOCOL + 1)}, f"speaks protocol {PROTOCOL + 1}, this judge"),
        ({}, "is no sandbox of mha-judge"),
    ],
)
def test_an_image_for_another_judge_is_to_be_rebuilt(labels, message):
    with pytest.raises(SandboxUnavailable, match=f"{message}.*; rebuild it"):
        engine.usable_image(FakeEngine(labels), Settings.image)


def test_an_image_of_this_protocol_is_taken_by_its_id():
    labels = {engine.PROTOCOL_LABEL: str(PROTOCOL)}

    assert engine.usable_image(FakeEngine(labels), "any") == "sha256:1234"


def test_a_limit_that_the_engine_discards_refuses_and_removes_the_container():
    fake = FakeEngine(warnings=["Your kernel does not support memory limit capabilities."])

    with pytest.raises(SandboxUnavailable, match=r"cannot enforce every limit: .*memory limit"):
        attached.ContainerTransport(fake, "sha256:1234", Settings())

    assert fake.removed == ["made"]


def test_a_full_disk_shows_when_the_container_is_made():
    fake = FakeEngine(failure=refusal("write /var/lib/docker: no space left on device"))

    with pytest.raises(SandboxUnavailable, match="disk is full"):
        attached.ContainerTransport(fake, "sha256:1234", Settings())


ASKED = Settings()
SEEN = {
    "uid": 65534,
    "capabilities": 0,
    "no_new_privs": True,
    "seccomp": True,
    "read_only_root": True,
    "interfaces": [],
    "instruction_set": "AVX2",
    "memory_bytes": ASKED.memory_bytes,
    "swap_bytes": ASKED.memory_bytes,
    "tasks": ASKED.tasks,
    "cpus": ASKED.cpus,
}


def test_surroundings_as_asked_for_are_accepted():
    require(ASKED, Surroundings(**SEEN))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("uid", 0, "a user other than root"),
        ("capabilities", 1 << 21, "no capabilities"),
        ("no_new_privs", False, "no new privileges"),
        ("seccomp", False, "seccomp profile"),
        ("read_only_root", False, "read-only root"),
        ("interfaces", ["eth0"], "no network"),
        ("memory_bytes", 2**62, "limit on memory"),
        ("swap_bytes", 2**62, "limit on swap"),
        ("tasks", 2**62, "limit on tasks"),
        ("cpus", 2.0, "share of processors"),
    ],
)
def test_surroundings_that_are_less_than_asked_for_are_refused(name, value, message):
    with pytest.raises(SandboxUnavailable, match=f"did not enforce .*{message}"):
        require(ASKED, Surroundings(**{**SEEN, name: value}))


@pytest.mark.parametrize("name", [name for name in SEEN if name not in ("uid", "instruction_set")])
def test_what_cannot_be_told_from_inside_is_left_to_the_engine(name):
    require(ASKED, Surroundings(**{**SEEN, name: None}))


def test_auto_takes_the_jail_where_docker_does_not_answer(monkeypatch):
    class Stub:
        def open(self):
            return "the jail's channel"

    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    monkeypatch.setitem(options.BACKENDS, "jail", Stub)

    assert SandboxOptions("auto").open() == "the jail's channel"


def test_auto_never_ignores_what_a_container_was_asked_for(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")

    with pytest.raises(SandboxUnavailable, match="does not answer"):
        SandboxOptions(container=Settings(runtime="runsc")).open()


def test_auto_says_why_nothing_works(monkeypatch):
    class Refusing:
        def open(self):
            raise SandboxUnavailable("Landlock is disabled; boot with it")

    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    monkeypatch.setitem(options.BACKENDS, "jail", Refusing)

    with pytest.raises(SandboxUnavailable, match=r"container: .*start it.*; jail: Landlock"):
        SandboxOptions("auto").open()
