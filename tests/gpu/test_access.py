"""One submission at a time, and what is asked for so that a sandbox reaches a GPU."""

import multiprocessing
import pickle
import time
from contextlib import closing

import pytest

from mha_judge.bank import Bank
from mha_judge.errors import SandboxUnavailable
from mha_judge.gpu import GpuAccess, presence
from mha_judge.gpu.turn import turn
from mha_judge.grading.calling.session import Session
from mha_judge.grading.failures import Raised
from mha_judge.sandbox import SandboxOptions
from mha_judge.sandbox.container import flags
from mha_judge.sandbox.container.settings import CUDA_IMAGE, Settings
from mha_judge.sandbox.limits import Limits
from mha_judge.submission import Submission

pytestmark = pytest.mark.slow

BANK = Bank.builtin()


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def _hold(folder, ready):
    import os

    os.environ["XDG_CACHE_HOME"] = folder
    with turn("cuda-0"):
        ready.send(True)
        time.sleep(60)


def test_a_judge_that_is_killed_lets_go_of_the_device(tmp_path):
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    other = context.Process(target=_hold, args=(str(tmp_path), theirs))
    other.start()
    try:
        assert ours.recv()
        with pytest.raises(SandboxUnavailable, match="cuda-0 is taken by another judge"):  # noqa: SIM117
            with turn("cuda-0", wait_s=0.2):
                pass
    finally:
        other.kill()
        other.join()
    with turn("cuda-0", wait_s=5):
        pass


def test_access_can_be_sent_to_another_process():
    sent = pickle.loads(pickle.dumps(GpuAccess(SandboxOptions("jail"))))

    assert sent.options == SandboxOptions("jail")


def test_a_container_with_a_gpu_asks_for_it_and_for_nothing_else():
    plain, asked = flags.host(Settings()), flags.host(Settings().with_gpu())
    [request] = asked.pop("device_requests")

    assert "device_requests" not in plain
    assert request["DeviceIDs"] == ["0"]
    assert request["Capabilities"] == [["compute", "utility"]]
    same = plain.keys() - {"mem_limit", "memswap_limit", "pids_limit"}
    assert {name: asked[name] for name in same if name not in ("ulimits", "log_config")} == {
        name: plain[name] for name in same if name not in ("ulimits", "log_config")
    }


def test_a_container_with_a_gpu_takes_the_cuda_image_unless_one_is_named():
    assert Settings().with_gpu().image == CUDA_IMAGE
    assert Settings(image="mine").with_gpu().image == "mine"


TRIES = """
import ctypes, fcntl, os, socket

def ioctl(request):
    fcntl.ioctl(0, request, b"x")

def connect():
    socket.socket()

def fork():
    os.fork()

def read():
    open("/etc/passwd").read()
"""
REFUSED = {"connect": [], "fork": [], "read": [], "ioctl": [0x5412]}  # TIOCSTI


def test_a_worker_that_may_reach_a_gpu_may_do_nothing_else():
    submission = Submission.of(TRIES, "tries.py")
    with closing(SandboxOptions("jail").open()) as channel, closing(
        Session(channel, submission, Limits(), device="cpu")
    ) as session:  # fmt: skip
        session.load()
        assert session.tier.details["gpu"] == "experimental"
        for function, args in REFUSED.items():
            with pytest.raises(Raised) as raised:
                session.request("call", (args, {}, None), target=function)
            assert raised.value.kind in ("PermissionError", "FileNotFoundError"), function
        for request in (0x46D6, 0x30000001, 25):  # the driver's own, which /dev/null does not know
            with pytest.raises(Raised) as raised:
                session.request("call", ([request], {}, None), target="ioctl")
            assert raised.value.kind == "OSError"  # a PermissionError would have that name


class Refuses:
    """A sandbox that notes what a worker is asked to confine itself to, and starts none."""

    def start(self, limits):
        self.bounds = limits.bounds()
        raise SandboxUnavailable("nothing starts here")


@pytest.mark.parametrize(("device", "gpu"), [("", False), ("cuda", True)])
@pytest.mark.parametrize("problem_id", BANK.ids)
def test_a_worker_may_reach_a_gpu_only_where_the_judge_names_a_device(problem_id, device, gpu):
    sandbox, limits = Refuses(), BANK.problem(problem_id).limits
    session = Session(sandbox, Submission.of(TRIES, "tries.py"), limits, device)

    with pytest.raises(SandboxUnavailable):
        session.load()

    assert sandbox.bounds["gpu"] is gpu


def test_without_a_gpu_no_request_of_the_driver_passes():
    submission = Submission.of(TRIES, "tries.py")
    with closing(SandboxOptions("jail").open()) as channel, closing(
        Session(channel, submission, Limits())
    ) as session:  # fmt: skip
        session.load()
        with pytest.raises(Raised) as raised:
            session.request("call", ([0x46D6], {}, None), target="ioctl")
        assert raised.value.kind == "PermissionError"


@pytest.mark.parametrize(
    ("text", "has"),
    [("cuda: Optional[str] = None\n", False), ("cuda: Optional[str] = '12.8'\n", True)],
)
def test_a_cuda_build_of_torch_is_told_without_importing_it(tmp_path, monkeypatch, text, has):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise ImportError")
    (tmp_path / "torch" / "version.py").write_text("__version__ = '2'\n" + text)
    found = type("Spec", (), {"submodule_search_locations": [str(tmp_path / "torch")]})
    monkeypatch.setattr(presence.importlib.util, "find_spec", lambda name: found)

    assert (presence.torch_missing() is None) == has


@pytest.mark.parametrize(
    ("info", "has"),
    [
        ({"Runtimes": {"runc": {}}}, False),
        ({"Runtimes": {"runc": {}, "nvidia": {}}}, True),
        ({"Runtimes": {"runc": {}}, "DiscoveredDevices": [{"ID": "nvidia.com/gpu=0"}]}, True),
    ],
)
def test_the_container_toolkit_shows_in_what_the_engine_says(info, has):
    assert (presence._toolkit_missing(info) is None) == has


def test_an_engine_of_this_machine_is_not_asked_where_there_is_no_driver(monkeypatch, tmp_path):
    def asked(backend):
        raise AssertionError("an engine was asked")

    monkeypatch.setattr(presence, "_DRIVER", tmp_path / "none")
    monkeypatch.setattr(presence, "why_not", asked)
    monkeypatch.delenv("DOCKER_HOST", raising=False)

    assert GpuAccess(SandboxOptions(backend="container")).why_not().startswith("no CUDA device")
    monkeypatch.setenv("DOCKER_HOST", "ssh://far")
    with pytest.raises(AssertionError):
        GpuAccess(SandboxOptions(backend="container")).why_not()
