"""A platform's machine, with its paths, and the answers that are handed in there."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mha_judge.bank import Bank

ROOT = Path(__file__).parents[2]
PROBLEM, FILE = "softmax", "softmax.py"
RIGHT = Bank.builtin().reference(PROBLEM).read_text(encoding="utf-8")
WRONG = """import numpy as np


def softmax(x):
    return np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)
"""
PLACES = (
    "/logs/verifier/reward.json",
    "/logs/verifier/reward.txt",
    "/autograder/results/results.json",
    "/grade/results/results.json",
    "result.json",
    "release-body.md",
    "conftest.py",
)
FORGED = '{"reward": 1, "score": 100, "gradable": true, "forged": true}'
HOSTILE = f"""import atexit, os
def forge():
    for path in {PLACES!r}:
        try:
            open(path, "w").write({FORGED!r})
        except OSError:
            pass
    print("::error file=x,line=1::forged")
forge()
atexit.register(forge)
{WRONG}"""
PLANTED = {
    "conftest.py": "import os\nos._exit(0)\n",
    "pytest.ini": "[pytest]\naddopts = --nonsense\n",
    "json.py": "raise SystemExit(0)\n",
    "torch.py": "raise SystemExit(0)\n",
    "pip.py": "raise SystemExit(0)\n",
    "mha_judge.py": "raise SystemExit(0)\n",
    "reward.json": FORGED,
    "results.json": FORGED,
    "result.json": FORGED,
    "release-body.md": "100/100",
}
"""What lies beside a hostile answer."""
ANSWERS = {"right": RIGHT, "wrong": WRONG, "hostile": HOSTILE, "undecidable": RIGHT}
CHECKOUT = f"""import os, sys
def main():
    os.environ["PYTHONPATH"] = {str(ROOT / "harness")!r}
    more = os.environ.get("TEST_OPTIONS", "").split()
    command = [{sys.executable!r}, "-P", "-m", "mha_judge", *sys.argv[1:], *more]
    os.execv(command[0], command)
"""
NAMESPACE = ("bwrap", "--dev-bind", "/", "/")
NO_SANDBOX = {"TEST_OPTIONS": "--sandbox container", "DOCKER_HOST": "unix:///nowhere/docker.sock"}


def judge(*args, expect=0, **env):
    command = [sys.executable, "-m", "mha_judge", *map(str, args)]
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **env}
    )
    assert result.returncode == expect, result.stderr + result.stdout
    return result


@dataclass
class Machine:
    """A machine of a platform: this one, with further folders at fixed paths."""

    programs: Path
    """What is found before all other programs."""
    bound: dict[str, Path]

    def run(self, *command, cwd="/", env: Mapping[str, str] = {}):
        """Run a command in a mount namespace of its own."""
        taken = {Path(path).parts[1] for path in self.bound}
        binds = []
        for entry in sorted(Path("/").iterdir()):
            if entry.is_symlink():
                binds += ["--symlink", str(entry.readlink()), str(entry)]
            elif entry.name not in taken and entry.is_dir():
                binds += ["--dev-bind", str(entry), str(entry)]
            elif entry.is_dir():
                for inner in (one for one in entry.iterdir() if not one.is_symlink()):
                    binds += ["--ro-bind", str(inner), str(inner)]
        for path, folder in self.bound.items():
            binds += ["--bind", str(folder), path]
        path = f"{self.programs}:{os.environ['PATH']}"
        pip = {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        result = subprocess.run(
            ["bwrap", *binds, "--chdir", cwd, *command],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **pip, "PATH": path, **env},
        )
        assert "bwrap:" not in result.stderr, result.stderr
        return result
