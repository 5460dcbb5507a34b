"""`mha-judge practice --web` as a process of its own, and what a page does."""

import json
import os
import re
import signal
import subprocess
import sys
import time

from websockets.sync.client import connect

PROBLEM = "sinusoidal-positions"
"""Graded in less than a second."""


class Desk:
    """The server, with the learner's files in a folder of its own."""

    def __init__(self, folder, *options):
        self.folder = folder
        self.environment = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder)}
        self.out = folder / "out"
        command = [
            sys.executable, "-m", "mha_judge", "practice", PROBLEM, "--web", "--port", "0",
            "--sandbox", "jail", "--folder", str(folder), *options,
        ]  # fmt: skip
        with self.out.open("w") as out:
            self.process = subprocess.Popen(
                command, stdout=out, stderr=out, cwd=folder, env=self.environment
            )
        deadline = time.monotonic() + 60
        while "enter" not in self.out.read_text():
            assert self.process.poll() is None, self.out.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        self.link = re.search(r"open (\S+)", self.out.read_text())[1]
        self.url, _, self.key = self.link.partition("/enter/")

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(60)

    def command(self, *arguments):
        return subprocess.run(
            [sys.executable, "-m", "mha_judge", *arguments],
            capture_output=True, text=True, env=self.environment, cwd=self.folder, check=False,
        )  # fmt: skip


class Page:
    """A socket, as a page has it."""

    def __init__(self, desk, **headers):
        headers = {"Cookie": f"mha-judge-practice={desk.key}", "Origin": desk.url, **headers}
        self._opening = connect(
            f"{desk.url.replace('http', 'ws')}/socket",
            additional_headers={name: value for name, value in headers.items() if value},
            max_size=None, open_timeout=30, proxy=None,
        )  # fmt: skip
        self.heard = []

    def __enter__(self):
        self.socket = self._opening.__enter__()
        return self

    def __exit__(self, *error):
        self._opening.__exit__(*error)

    def send(self, kind, **body):
        self.socket.send(json.dumps({"kind": kind, **body}))

    def next(self, kind, fits=lambda _: True, within=120):
        """Return the next message of a kind that fits."""
        while True:
            message = json.loads(self.socket.recv(timeout=within))
            self.heard.append(message)
            if message["kind"] == kind and fits(message):
                return message

    def begun(self):
        """Begin the problem afresh; return the state with the starter."""
        self.next("state", lambda state: state["problem"])
        self.send("open", problem=PROBLEM)
        if self.next("state", lambda state: state["problem"] == PROBLEM)["is_open"]:
            self.send("give up")
            self.next("state", lambda state: not state["is_open"])
        self.send("begin")
        return self.next("state", lambda state: state["is_open"])

    def run(self, text, over):
        """Have a text graded; return the state with its report."""
        self.send("run", problem=PROBLEM, text=text, over=over)
        return self.graded()

    def graded(self):
        return self.next("state", lambda state: (state["run"] or {}).get("reason") == "graded")
