"""The container on a real engine: what it holds, what it is allowed, and what is left of it."""

import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest
from docker.errors import APIError
from sandboxes import LIMITS, containers, gone, load

from mha_judge.bank import Bank
from mha_judge.errors import SandboxUnavailable
from mha_judge.sandbox import SandboxOptions, Settings
from mha_judge.sandbox.container import Container, attached, engine, flags, owner
from mha_judge.version import __version__
from mha_judge.wire import PROTOCOL

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("docker")]

ROOT = Path(__file__).resolve().parents[3]
BANK = Bank.builtin()
RIGHT = ROOT / "examples" / "right_attention.py"


@pytest.fixture(scope="module")
def opened(docker):
    """Return the id of a container with a worker in it."""
    before = containers()
    with closing(Container().open()) as channel:
        channel.start(LIMITS)
        load(channel, "RESULT = 1")
        [found] = containers() - before
        yield found


def inside(docker, container, source, *arguments, user=None):
    """Run Python in the container beside the supervisor, so without a worker's own jail."""
    command = ["python", "-I", "-c", source, *arguments]
    made = docker.exec_create(container, command, user=user or flags.USER)
    return docker.exec_start(made["Id"]).decode()


def judge(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "mha_judge", *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


class TestImage:
    def test_it_is_labelled_with_version_and_protocol(self, docker):
        labels = docker.inspect_image(Settings.image)["Config"]["Labels"]

        assert labels[engine.PROTOCOL_LABEL] == str(PROTOCOL)
        assert labels["org.opencontainers.image.version"] == __version__

    def test_it_runs_as_nobody(self, docker):
        assert docker.inspect_image(Settings.image)["Config"]["User"] == "65534:65534"

    def test_it_holds_the_sources_of_this_package(self, docker, opened):
        found = inside(docker, opened, "import mha_judge; print(mha_judge.__path__[0])").strip()
        stream, _ = docker.get_archive(opened, found)
        package = ROOT / "harness" / "mha_judge"
        with tarfile.open(fileobj=io.BytesIO(b"".join(stream))) as tar:
            sources = {
                member.name.partition("/")[2]: tar.extractfile(member).read()
                for member in tar.getmembers()
                if member.name.endswith(".py")
            }

        assert {name.partition("/")[0] for name in sources} == {"__init__.py", "wire", "worker"}
        for name, text in sources.items():
            current = (package / name).read_bytes()
            assert text == current, f"{name} has changed; rebuild: mha-judge sandbox build"

    @pytest.mark.parametrize("program", ["pip", "cc", "gcc", "g++", "make", "ld"])
    def test_it_has_no_installer_and_no_compiler(self, docker, opened, program):
        source = "import shutil, sys; print(shutil.which(sys.argv[1]))"

        assert inside(docker, opened, source, program).strip() == "None"

    @pytest.mark.parametrize("module", ["pip", "pytest", "pydantic", "click", "docker", "rich"])
    def test_it_has_nothing_of_the_judges_side(self, docker, opened, module):
        source = "import importlib.util, sys; print(importlib.util.find_spec(sys.argv[1]))"

        assert inside(docker, opened, source, module).strip() == "None"


class TestWhatASubmissionCouldFind:
    """Tried as root and without the worker's jail: the container alone must have nothing."""

    SEARCH = """
import os, sys
needles = [line.encode() for line in sys.argv[1].split("\\n") if line]
found = []
for folder, below, names in os.walk("/", followlinks=False):
    below[:] = [name for name in below if os.path.join(folder, name) not in ("/proc", "/sys")]
    for name in names:
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.path.getsize(path) < 1 << 20:
            try:
                text = open(path, "rb").read()
            except OSError:
                continue
            found += [path for needle in needles if needle in text]
print(found)
"""

    def test_no_file_holds_a_line_of_a_grader_a_reference_or_a_problem(self, docker, opened):
        needles = [_telling_line(path) for path in _secrets()]

        found = inside(docker, opened, self.SEARCH, "\n".join(needles), user="0:0")

        assert len(needles) >= 4 * len(BANK.ids)
        assert found.strip() == "[]"

    def test_the_search_would_find_a_line_that_is_there(self, docker, opened):
        line = "The supervisor: torch imported once, a confined worker forked"

        found = inside(docker, opened, self.SEARCH, line, user="0:0")

        assert "supervisor.py" in found

    def test_no_file_of_the_host_is_there(self, docker, opened, tmp_path):
        secret = tmp_path / "secret"
        secret.write_text("s3cret-of-the-host", encoding="utf-8")

        found = inside(docker, opened, self.SEARCH, "s3cret-of-the-host", user="0:0")

        assert found.strip() == "[]"
        mounts = docker.inspect_container(opened)["Mounts"]
        assert mounts == []

    def test_there_is_no_network(self, docker, opened):
        with closing(socket.create_server(("0.0.0.0", 0))) as server:
            source = (
                "import os, socket, sys\n"
                "print(sorted(os.listdir('/sys/class/net')))\n"
                "for host in sys.argv[2:]:\n"
                "    try:\n"
                "        socket.create_connection((host, int(sys.argv[1])), 2)\n"
                "        print('REACHED')\n"
                "    except OSError as error:\n"
                "        print(type(error).__name__)\n"
            )
            port = str(server.getsockname()[1])
            hosts = ["127.0.0.1", "172.17.0.1", socket.gethostname(), "192.0.2.1"]

            said = inside(docker, opened, source, port, *hosts).split("\n")

        assert said[0] in ("['lo']", "[]")
        assert "REACHED" not in said
        assert len([line for line in said[1:] if line]) == len(hosts)

    def test_nothing_can_be_written_but_the_scratch_folder_which_runs_nothing(self, docker, opened):
        source = (
            "import os, subprocess\n"
            "for path in ('/x', '/opt/mha-judge/x', '/usr/x', '/dev/x', '/var/tmp/x'):\n"
            "    try:\n"
            "        open(path, 'w')\n"
            "        print('WRITTEN', path)\n"
            "    except OSError as error:\n"
            "        print(error.errno)\n"
            "open('/tmp/program', 'w').write('#!/bin/sh\\n')\n"
            "os.chmod('/tmp/program', 0o755)\n"
            "try:\n"
            "    subprocess.run(['/tmp/program'])\n"
            "    print('RAN')\n"
            "except PermissionError:\n"
            "    pass\n"
            "os.unlink('/tmp/program')\n"
        )

        said = inside(docker, opened, source)

        assert "WRITTEN" not in said
        assert "RAN" not in said
        assert "Traceback" not in said, said

    def test_the_scratch_folder_is_bounded(self, docker, opened):
        source = (
            "import os\n"
            "try:\n"
            "    for n in range(100):\n"
            "        open(f'/tmp/{n}', 'wb').write(bytes(1 << 20))\n"
            "except OSError as error:\n"
            "    print(error.strerror, n)\n"
            "for n in os.listdir('/tmp'):\n"
            "    os.unlink('/tmp/' + n)\n"
        )

        assert "No space left on device 64" in inside(docker, opened, source)

    def test_a_user_has_no_privilege_left(self, docker, opened):
        said = inside(docker, opened, "print(open('/proc/self/status').read())")

        fields = dict(re.findall(r"^(\w+):\s+(\S+)", said, re.MULTILINE))
        assert {fields[name] for name in ("CapEff", "CapPrm", "CapBnd", "CapInh")} == {"0" * 16}
        assert (fields["NoNewPrivs"], fields["Seccomp"], fields["Uid"]) == ("1", "2", "65534")


class TestLimits:
    def test_the_engine_was_asked_for_every_flag(self, docker, opened):
        made = docker.inspect_container(opened)
        host = made["HostConfig"]

        assert made["Config"]["User"] == flags.USER
        assert host["NetworkMode"] == "none"
        assert host["IpcMode"] == "none"
        assert host["CgroupnsMode"] == "private"
        assert host["ReadonlyRootfs"] is True
        assert host["AutoRemove"] is True
        assert host["Init"] is True
        assert host["Privileged"] is False
        assert host["Binds"] is None
        assert host["CapAdd"] is None
        assert host["CapDrop"] == ["ALL"]
        assert host["SecurityOpt"] == ["no-new-privileges:true"]
        assert host["LogConfig"]["Type"] == "none"
        assert host["Memory"] == host["MemorySwap"] == Settings.memory_bytes
        assert host["NanoCpus"] == 10**9
        assert host["PidsLimit"] == Settings.tasks
        assert host["OomScoreAdj"] == 500
        assert {limit["Name"] for limit in host["Ulimits"]} == {
            "core", "fsize", "memlock", "nofile", "nproc",
        }  # fmt: skip

    def test_memory_beyond_the_control_groups_is_not_to_be_had(self, docker):
        before = containers()
        settings = Settings(memory_bytes=2600 * 1024**2)
        with closing(Container(settings).open()) as channel:
            channel.start(LIMITS)
            [found] = containers() - before
            source = "x = bytearray(b'x') * (3 << 30); print('TAKEN')"

            said = inside(docker, found, source)

            assert "TAKEN" not in said
            channel.start(LIMITS)  # the supervisor is not the one that the kernel ended

    def test_tasks_beyond_the_control_groups_are_not_to_be_had(self, docker):
        before = containers()
        with closing(Container(Settings(tasks=80)).open()) as channel:
            channel.start(LIMITS)
            [found] = containers() - before
            source = (
                "import threading, time\n"
                "n = 0\n"
                "try:\n"
                "    for n in range(200):\n"
                "        threading.Thread(target=time.sleep, args=(2,), daemon=True).start()\n"
                "except RuntimeError:\n"
                "    print('REFUSED AT', n)\n"
            )

            said = inside(docker, found, source)

        assert 40 <= int(said.split()[-1]) < 80

    def test_a_runtime_that_the_engine_does_not_know_is_refused(self):
        before = containers()

        with pytest.raises(SandboxUnavailable, match="does not know this runtime"):
            SandboxOptions(container=Settings(runtime="no-such-runtime")).open()

        assert containers() == before


class TestLeftovers:
    @pytest.fixture
    def dead(self):
        """Return the label of a process that has ended."""
        source = "from mha_judge.sandbox.container.owner import Owner\nprint(Owner.current())"
        return subprocess.run(
            [sys.executable, "-c", source], capture_output=True, text=True, check=True
        ).stdout.strip()

    @staticmethod
    def make(docker, label, *, start):
        arguments = flags.creation(docker, Settings.image, Settings())
        arguments["labels"] = {owner.LABEL: label}
        arguments["command"] = ["sleep", "600"]
        made = docker.create_container(**arguments)["Id"]
        if start:
            docker.start(made)
        return made

    @pytest.mark.parametrize("start", [False, True], ids=["never started", "running"])
    def test_the_next_start_removes_what_a_dead_judge_left(self, docker, dead, start):
        left = self.make(docker, dead, start=start)

        with closing(Container().open()) as channel:
            channel.start(LIMITS)

            assert not gone(lambda: containers(dead), {left})

    def test_what_a_living_judge_has_stays(self, docker):
        parent = os.getppid()  # alive, and not this process
        label = str(owner.Owner(owner._boot(), owner._namespace(), parent, owner._started(parent)))
        kept = self.make(docker, label, start=False)
        try:
            removed = owner.sweep(docker)
        finally:
            docker.remove_container(kept, force=True)

        assert kept not in removed

    @pytest.mark.parametrize("label", ["another-boot/1/2/3", "nonsense", "////"])
    def test_what_another_machine_may_have_stays(self, docker, label):
        kept = self.make(docker, label, start=False)
        try:
            removed = owner.sweep(docker)
        finally:
            docker.remove_container(kept, force=True)

        assert kept not in removed

    def test_a_container_that_never_started_is_removed_with_its_error(self, docker, monkeypatch):
        monkeypatch.setattr(flags, "command", lambda settings: ["/no/such/program"])
        before = containers()
        with (
            closing(Container().open()) as channel,
            pytest.raises(SandboxUnavailable, match=r"Docker refused|did not start"),
        ):
            channel.start(LIMITS)

        assert not gone(containers, containers() - before)

    def test_a_container_whose_judge_is_out_of_reach_ends_by_itself(self, monkeypatch):
        monkeypatch.setattr(flags, "LEASE_S", 2)
        monkeypatch.setattr(attached, "_ALIVE_EVERY_S", 600.0)
        before = containers()
        with closing(Container().open()) as channel:
            channel.start(LIMITS)
            started = containers() - before
            assert started

            assert not gone(containers, started)

    def test_a_container_lasts_while_its_judge_has_nothing_to_ask(self, monkeypatch):
        monkeypatch.setattr(flags, "LEASE_S", 2)
        monkeypatch.setattr(attached, "_ALIVE_EVERY_S", 0.3)
        with closing(Container().open()) as channel:
            channel.start(LIMITS)

            time.sleep(3)

            channel.start(LIMITS)


class Proxy:
    """Stands between judge and engine, and can go away as an engine would."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "docker.sock")
        self._target = engine._SOCKET
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(self.path)
        self._server.listen()
        self._open = [self._server]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                inner, _ = self._server.accept()
            except OSError:
                return
            outer = socket.socket(socket.AF_UNIX)
            outer.connect(str(self._target))
            self._open += [inner, outer]
            for source, sink in ((inner, outer), (outer, inner)):
                threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    @staticmethod
    def _pump(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(1 << 16):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            return

    def die(self) -> None:
        Path(self.path).unlink(missing_ok=True)
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()


class TestEnds:
    SLOW = "# problem: sdpa\nimport time\ntime.sleep(8)\n"

    def test_an_engine_that_dies_during_a_grade_leaves_no_verdict_and_no_container(
        self, docker, tmp_path
    ):
        if not engine._SOCKET.exists():
            pytest.skip("the engine is not behind the usual socket")
        source = tmp_path / "sdpa.py"
        source.write_text(self.SLOW, encoding="utf-8")
        proxy = Proxy(tmp_path)
        running = subprocess.Popen(
            [sys.executable, "-m", "mha_judge", "run", source, "--sandbox", "container"],
            env={**os.environ, "DOCKER_HOST": f"unix://{proxy.path}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        mine = self._container_of(docker, running.pid)

        proxy.die()
        said = running.communicate(timeout=60)

        assert running.returncode == 6, said
        assert "mha-judge: the con" in said[1]
        assert not gone(lambda: self._all(docker), {mine})

    @pytest.mark.parametrize(
        ("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -15), (signal.SIGKILL, -9)]
    )
    def test_a_run_that_is_ended_leaves_no_verdict_and_no_container(
        self, docker, tmp_path, how, code
    ):
        source = tmp_path / "sdpa.py"
        source.write_text(self.SLOW, encoding="utf-8")
        running = subprocess.Popen(
            [sys.executable, "-m", "mha_judge", "run", source, "--sandbox", "container"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        mine = self._container_of(docker, running.pid)

        running.send_signal(how)

        assert running.wait(timeout=30) == code
        assert not gone(lambda: self._all(docker), {mine})

    @staticmethod
    def _all(docker):
        return {found["Id"] for found in docker.containers(all=True)}

    @staticmethod
    def _container_of(docker, pid):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            for found in docker.containers(filters={"label": owner.LABEL}):
                parsed = owner.Owner.parse(found["Labels"][owner.LABEL])
                if parsed is not None and parsed.pid == pid and _processes(docker, found) >= 3:
                    time.sleep(0.5)  # let the worker come to the submission
                    return found["Id"]
            time.sleep(0.05)
        raise AssertionError("no container with a worker appeared")


class TestCommand:
    def test_run_grades_in_a_container_and_says_so(self):
        done = judge("run", RIGHT, "--sandbox", "container", "--json", "-")

        report = json.loads(done.stdout)
        assert (done.returncode, report["score"]) == (0, 100.0)
        assert report["sandbox"]["tier"] == "docker+landlock+seccomp+rlimits"
        assert report["sandbox"]["details"]["container_memory_bytes"] == Settings.memory_bytes

    def test_auto_takes_the_container_where_the_image_is(self):
        done = judge("run", RIGHT, "--only", "output-shape", "--json", "-")

        assert json.loads(done.stdout)["sandbox"]["backend"] == "container"

    def test_limits_of_the_command_line_reach_the_container(self):
        done = judge("run", RIGHT, "--only", "output-shape", "--json", "-", "--memory", "2600M",
                     "--cpus", "0.5")  # fmt: skip

        details = json.loads(done.stdout)["sandbox"]["details"]
        assert details["container_memory_bytes"] == 2600 * 1024**2
        assert details["container_cpus"] == 0.5

    @pytest.mark.parametrize(
        ("arguments", "code", "message"),
        [
            (["--image", "no-such-image"], 5, "build it: `mha-judge sandbox build --tag no-such"),
            (["--runtime", "no-such-runtime"], 5, "does not know this runtime"),
            (["--memory", "1G"], 5, "pass --memory 2560M or more"),
            (["--memory", "lots"], 2, "is no size"),
            (["--sandbox", "jail", "--cpus", "1"], 2, "has no image, runtime, memory or cpus"),
        ],
    )
    def test_what_cannot_be_had_ends_without_a_verdict(self, arguments, code, message):
        done = judge("run", RIGHT, *arguments)

        assert done.returncode == code
        assert message in done.stderr

    def test_doctor_finds_that_the_container_holds(self):
        done = judge("doctor")

        assert "container holds: docker+landlock+seccomp+rlimits" in done.stdout
        assert "`--sandbox auto` takes container" in done.stdout
        container = done.stdout.partition("container holds")[2].partition("\njail ")[0]
        assert container.count(" held ") == 8
        assert " OPEN " not in container
        assert " unclear " not in container


def _processes(docker, container):
    """Return how many processes run in a container: init, supervisor, and a worker if there is."""
    try:
        return len(docker.top(container["Id"])["Processes"])
    except APIError:  # not yet running
        return 0


def _secrets():
    for problem_id in BANK.ids:
        yield BANK.grader(problem_id)
        yield BANK.reference(problem_id)
        folder = BANK.root / "problems" / problem_id
        yield folder / "statement.md"
        yield folder / "problem.toml"


def _telling_line(path: Path) -> str:
    """Return the longest line of a file, which no other file has by chance."""
    return max(path.read_text(encoding="utf-8").splitlines(), key=len).strip()
