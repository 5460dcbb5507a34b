"""`mha-judge serve` as a process of its own, for tests."""

import re
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx

READY = re.compile(r"serving on (https?://\S+?);")
CANDIDATE, INTERVIEWER = "c" * 32, "i" * 32
"""Tokens."""
HANGS = "while True:\n    pass\n"
CRASHES = "import os\nos._exit(3)\n"


class Server:
    """`mha-judge serve` on a port of its own."""

    def __init__(self, folder, *options, expect_start=True):
        self.folder = folder
        self.log = folder / f"log-{secrets.token_hex(4)}"
        command = [
            sys.executable, "-m", "mha_judge", "serve", "--port", "0", "--sandbox", "jail",
            "--store", str(folder / "grades.sqlite"), "-j", "2", *options,
        ]  # fmt: skip
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, stderr=log, cwd=folder)
        deadline = time.monotonic() + 90
        while expect_start and not READY.search(self.text):
            assert self.process.poll() is None, self.text
            assert time.monotonic() < deadline, self.text
            time.sleep(0.1)
        if expect_start:
            self.url = READY.search(self.text).group(1)

    @property
    def text(self):
        return self.log.read_text("utf-8")

    def client(self, token=None, **options):
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=120, **options)

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(60)

    def graders(self):
        """Return the processes that grade for it."""
        found = []
        for status in Path("/proc").glob("[0-9]*/status"):
            try:
                text = status.read_text()
            except OSError:
                continue
            if f"\nPPid:\t{self.process.pid}\n" in text and "State:\tZ" not in text:
                found.append(int(status.parent.name))
        return found
