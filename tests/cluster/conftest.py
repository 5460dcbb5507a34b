"""A Dask cluster of processes on this machine, with certificates of its own."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import trustme

SUBMISSIONS = Path(__file__).parents[1] / "submissions"


class Grid:
    """A scheduler and workers, each a process; they speak TLS and nothing else."""

    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.settings = {"distributed.scheduler.allowed-failures": 1, **_certificates(folder)}
        self.environment = {**os.environ, **_as_environment(self.settings)}
        self.processes = []
        self.start_scheduler()

    def start_scheduler(self):
        self.file.unlink(missing_ok=True)
        self.scheduler = self._start(
            "scheduler", "--host", "tls://127.0.0.1", "--port", "0", "--no-dashboard",
            "--scheduler-file", str(self.file),
        )  # fmt: skip
        wait_until(self.file.exists)

    def start_worker(self, *options, nanny=False, **environment):
        return self._start(
            "worker", "--scheduler-file", str(self.file), "--nthreads", "1", "--no-dashboard",
            "--nanny" if nanny else "--no-nanny", "--local-directory", str(self.folder), *options,
            **environment,
        )  # fmt: skip

    def await_workers(self, count):
        log = self.folder / "scheduler.log"  # a worker that imports the judge says no more
        wait_until(lambda: log.read_text("utf-8").count("Register worker") == count)

    def close(self):
        for process in self.processes[::-1]:  # the scheduler last
            process.terminate()
        for process in self.processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()

    def _start(self, *words, **environment):
        with (self.folder / f"{words[0]}.log").open("a") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *words], cwd=self.folder, stdout=log, stderr=log,
                env={**self.environment, **environment},
            )  # fmt: skip
        self.processes.append(process)
        return process


def wait_until(condition, within_s=60):
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _certificates(folder):
    """Return Dask's settings for TLS, with an authority that signs for all three."""
    authority = trustme.CA()
    ca, pem = str(folder / "ca.pem"), str(folder / "all.pem")
    authority.cert_pem.write_to_path(ca)
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(pem)
    tls = "distributed.comm.tls"
    return {
        "distributed.comm.require-encryption": True,
        f"{tls}.ca-file": ca,
        **{f"{tls}.{role}.{what}": pem
           for role in ("scheduler", "worker", "client") for what in ("cert", "key")},
    }  # fmt: skip


def _as_environment(settings):
    return {
        f"DASK_{name.upper().replace('.', '__').replace('-', '_')}": str(value)
        for name, value in settings.items()
    }


@pytest.fixture
def grid_of(tmp_path):
    """Return a context manager that starts a cluster and ends it."""

    @contextmanager
    def opened():
        grid = Grid(tmp_path)
        try:
            yield grid
        finally:
            grid.close()

    return opened


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """A cluster of two workers, for the tests of a module."""
    opened = Grid(tmp_path_factory.mktemp("grid"))
    try:
        for _ in range(2):
            opened.start_worker()
        opened.await_workers(2)
        yield opened
    finally:
        opened.close()
