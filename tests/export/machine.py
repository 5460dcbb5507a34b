"""A platform's machine, with its paths, and the answers that are handed in there."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

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
try:
    os.kill(os.getppid(), 9)
except OSError:
    pass
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
CLASSROOM50 = {
    "CLASSROOM": "ai",
    "ASSIGNMENT": "attention",
    "ASSIGNMENT_TYPE": "individual",
    "OWNER": "ada",
    "SUBMISSION_TAG": "submit/2026-06-01T14-32-05Z-a1b2c3d",
    "COMMIT_URL": "https://host/commit",
    "RELEASE_URL": "https://host/release",
    "REVIEW_URL": "https://host/review",
}
"""What its runner says of a submission."""
NAMESPACE = ("bwrap", "--dev-bind", "/", "/")
NO_SANDBOX = {"TEST_OPTIONS": "--sandbox container", "DOCKER_HOST": "unix:///nowhere/docker.sock"}


def judge(*args, expect=0, **env):
    command = [sys.executable, "-m", "mha_judge", *map(str, args)]
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **env}
    )
    assert result.returncode == expect, result.stderr + result.stdout
    return result


def action_steps(exported, action, checkout, temp):
    """Yield command, folder and environment of each step of the exported action.

    Args:
        exported: The export, which is read.
        action: Where the step finds the action's folder.
        checkout: Where it finds the answer.
        temp: Where it finds `RUNNER_TEMP`.
    """
    folder = exported / ".github"
    workflow = yaml.safe_load((folder / "workflows/mha-judge.yml").read_text("utf-8"))
    about = yaml.safe_load((folder / "actions/mha-judge/action.yml").read_text("utf-8"))
    job = workflow["jobs"]["grade"]
    [matrix] = job["strategy"]["matrix"]["include"]
    known = {f"matrix.{name}": value for name, value in matrix.items()}
    known |= {"runner.temp": str(temp), "github.action_path": str(action)}
    given = job["steps"][-1]["with"]
    for name, one in about["inputs"].items():
        known[f"inputs.{name}"] = _filled(given.get(name) or one["default"], known)
    for step in about["runs"]["steps"]:
        env = {name: _filled(text, known) for name, text in step.get("env", {}).items()}
        yield (
            ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]),
            _filled(step.get("working-directory", str(checkout)), known),
            {"RUNNER_TEMP": str(temp), **env},
        )


def _filled(text, values):
    return re.sub(r"\$\{\{ (\S+) \}\}", lambda found: values[found[1]], text)


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
