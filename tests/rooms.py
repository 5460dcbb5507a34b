"""`mha-judge room` as a process of its own, and what browsers do, for tests."""

import json
import re
import secrets
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager

import httpx
from websockets.sync.client import connect

PROBLEM, NEXT = "sinusoidal-positions", "softmax"
"""The first is graded in less than a second."""
LINK = re.compile(r"(\S+/rooms/([\w-]+)/enter/([\w-]+))$", re.MULTILINE)


class Rooms:
    """`mha-judge room` on a port of its own."""

    def __init__(self, folder, *problems, rooms=1, port=0, options=(), bank=None):
        self.out = folder / f"out-{secrets.token_hex(4)}"
        command = [
            sys.executable, "-m", "mha_judge", *(("--bank", str(bank)) if bank else ()),
            "room", *problems, "--port", str(port),
            "--rooms", str(rooms), "--sandbox", "jail", "--store", str(folder / "rooms"), "-j", "2",
            *options,
        ]  # fmt: skip
        with self.out.open("w") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=out, cwd=folder)
        deadline = time.monotonic() + 90
        while len(self.links) < 2 * rooms or "serving" not in self.text:
            assert self.process.poll() is None, self.text
            assert time.monotonic() < deadline, self.text
            time.sleep(0.1)
        self.url = re.search(r"https?://[^/\s]+", self.text)[0]
        httpx.get(f"{self.url}/healthz", timeout=60)  # it listens before it answers

    @property
    def text(self):
        return self.out.read_text("utf-8")

    @property
    def links(self):
        """Return link, room and key: for the candidate and the interviewers of each room."""
        return LINK.findall(self.text)

    def port(self):
        return int(self.url.rpartition(":")[2])

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(60)


class Browser:
    """A socket in a room, as a page has it."""

    def __init__(self, url, room, key, versions=None, **headers):
        headers = {"Cookie": f"mha-judge-room={key}", "Origin": url, **headers}
        self._opening = connect(
            f"{url.replace('http', 'ws')}/rooms/{room}/socket",
            additional_headers={name: value for name, value in headers.items() if value},
            max_size=None, open_timeout=30, proxy=None,
        )  # fmt: skip
        self._versions = versions or {}

    def __enter__(self):
        self.socket = self._opening.__enter__()
        self.send("here", versions=self._versions)
        return self

    def __exit__(self, *error):
        self._opening.__exit__(*error)

    def send(self, kind, **body):
        self.socket.send(json.dumps({"kind": kind, **body}))

    def next(self, *kinds, within=60):
        """Return the next message of one of these kinds."""
        while True:
            message = json.loads(self.socket.recv(timeout=within))
            if message["kind"] in kinds:
                return message


@contextmanager
def browsers(rooms, *links):
    """Give a browser for each link, and what it is told first."""
    with ExitStack() as stack:
        opened = [stack.enter_context(Browser(rooms.url, room, key)) for _, room, key in links]
        yield [(one, one.next("room")) for one in opened]
