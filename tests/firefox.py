"""A Firefox as it is installed, driven by WebDriver BiDi (W3C), for tests."""

import itertools
import json
import re
import shutil
import subprocess
import time
from contextlib import contextmanager

from websockets.sync.client import connect

PROGRAM = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
_LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


@contextmanager
def firefox(folder):
    """Give the page of a browser with a profile of its own.

    Playwright drives a build of its own only, which nobody has who uses a distribution's.
    """
    told = folder / "firefox.log"
    command = [PROGRAM, "--headless", "--profile", str(folder), "--remote-debugging-port", "0"]
    with told.open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out)
    try:
        deadline = time.monotonic() + 60
        while (found := _LISTENING.search(told.read_text())) is None:
            assert process.poll() is None and time.monotonic() < deadline, told.read_text()
            time.sleep(0.1)
        with connect(f"{found[1]}/session", max_size=None, proxy=None) as socket:
            yield Page(socket)
    finally:
        process.kill()
        process.wait()


class Page:
    """The page that a browser shows first."""

    def __init__(self, socket):
        self._socket = socket
        self._count = itertools.count(1)
        self._command("session.new", capabilities={})
        self._page = self._command("browsingContext.getTree")["contexts"][0]["context"]

    def _command(self, method, **params):
        number = next(self._count)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            told = json.loads(self._socket.recv(timeout=60))
            if told.get("id") == number:
                assert told["type"] == "success", told
                return told["result"]

    def goto(self, link):
        self._command("browsingContext.navigate", context=self._page, url=link, wait="complete")

    def evaluate(self, expression):
        """Return a string, number or truth value that JavaScript computes."""
        told = self._command(
            "script.evaluate",
            expression=expression, target={"context": self._page}, awaitPromise=True,
        )  # fmt: skip
        assert told["type"] == "success", told
        return told["result"].get("value")

    def waits_for(self, condition):
        deadline = time.monotonic() + 60
        while not self.evaluate(condition):
            assert time.monotonic() < deadline, condition
            time.sleep(0.1)

    def type(self, text):
        """Press keys, one character each."""
        for character in text:
            self.press(character)

    def press(self, *keys):
        """Press keys together."""
        strokes = [
            *({"type": "keyDown", "value": key} for key in keys),
            *({"type": "keyUp", "value": key} for key in reversed(keys)),
        ]
        actions = [{"type": "key", "id": "keys", "actions": strokes}]
        self._command("input.performActions", context=self._page, actions=actions)
