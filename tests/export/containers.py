"""Builds the images of each export, and runs its entry script in containers, on several answers.

`python tests/export/containers.py` prints the table of `docs/platforms.md`. It needs Docker Engine,
Debian's packages for Gradescope's `setup.sh`, and an image with Debian's Python, which stands for
each public image: `.ci/base-image mha-judge-base:bookworm` makes one.
"""

import json
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from machine import ANSWERS, CLASSROOM50, FILE, PLANTED, PROBLEM, ROOT, action_steps, judge

from mha_judge.export import FORMATS

BASE = "mha-judge-base:bookworm"
PUBLIC = "python:3.11-slim-bookworm"
"""What the exported Dockerfiles are built from."""
OURS = "mha-judge-platforms"
"""The repository of all images that are built here; they stay, so that the next run is quicker."""
PYTHON = f"""FROM {BASE}
COPY wheels /wheels
RUN printf '[global]\\nno-index = true\\nfind-links = /wheels\\n' >/etc/pip.conf \\
 && python3 -m venv /usr/local
"""
"""Debian's Python where official images have theirs; its pip takes what this machine's pip got."""
GRADESCOPE = f"""FROM {PUBLIC}
COPY source /autograder/source
RUN cp /autograder/source/run_autograder /autograder/ && chmod +x /autograder/run_autograder \\
 && bash /autograder/source/setup.sh
"""
"""As Gradescope's pages build an image."""
NO_LANDLOCK = {
    "defaultAction": "SCMP_ACT_ALLOW",
    "syscalls": [
        {
            "names": ["landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"],
            "action": "SCMP_ACT_ERRNO",
            "errnoRet": 38,  # ENOSYS
        }
    ],
}
ROOMY = ("--memory", "3g")
CASES = {
    "right": ("right", ROOMY),
    "wrong": ("wrong", ROOMY),
    "hostile": ("hostile", ROOMY),
    "no sandbox": ("right", (*ROOMY, "--security-opt", "seccomp=no_landlock.json")),
    "no memory for the judge": ("right", ("--memory", "128m")),
    "none for the answer": ("large", ("--memory", "600m")),
}
"""By the head of a column, the answer and what its container is given."""
LARGE = f"{ANSWERS['right']}\nHELD = b'x' * (700 << 20)  # within its limit\n"


class Containers:
    """The exports, their images, and the answer that is handed in.

    Args:
        folder: Empty; holds what is exported and mounted.
    """

    def __init__(self, folder):
        self.folder = folder
        self.classroom, self.runner = self._new(), self._new()  # the judge is installed there once
        (folder / "no_landlock.json").write_text(json.dumps(NO_LANDLOCK), "utf-8")
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "wheel", "--no-deps", "-w", folder / "judge", ROOT], check=True)
        [wheel] = (folder / "judge").iterdir()
        get = ("download", "-c", ROOT / "constraints.txt", "-d", folder / "python" / "wheels")
        subprocess.run([*pip, *get, wheel], check=True)
        for name in FORMATS:
            judge("export", name, PROBLEM, "-o", folder / name, "--judge", wheel)
        with zipfile.ZipFile(folder / "gradescope" / f"{PROBLEM}.zip") as bundle:
            bundle.extractall(folder / "autograder" / "source")
        self._build("python", "python", PYTHON)
        public = self._docker("images", "--quiet", PUBLIC).stdout.strip()
        self._docker("tag", f"{OURS}:python", PUBLIC)
        try:
            self._build("gradescope", "autograder", GRADESCOPE)
            self._build("harbor-agent", f"harbor/{PROBLEM}/environment")
            self._build("harbor-verifier", f"harbor/{PROBLEM}/tests")
            self._build("prairielearn", "prairielearn/image")
        finally:
            self._docker(*(("tag", public, PUBLIC) if public else ("rmi", PUBLIC)))

    def hand_in(self, answer):
        """Write an answer; beside a hostile one lies what it would like to be run."""
        self.right = answer == "right"
        self.answer, self.results = self._new(), self._new()
        for name, text in PLANTED.items() if answer == "hostile" else ():
            (self.answer / name).write_text(text, "utf-8")
        (self.answer / FILE).write_text({**ANSWERS, "large": LARGE}[answer], "utf-8")

    def harbor(self, *options):
        """Let the answer be written where agents work; only its file reaches the verifier."""
        task, left = self.folder / "harbor" / PROBLEM, self._new()
        mounts = {"/solution": task / "solution", "/written": self.answer, "/left": left}
        write = "/solution/solve.sh" if self.right else "cp /written/* /app"
        command = f"{write} && python -c 'import einops, numpy, torch' && cp /app/{FILE} /left"
        agent = self._run("harbor-agent", mounts, command=["sh", "-c", command])
        assert agent.returncode == 0, agent.stderr
        mounts = {"/app": left, "/logs/verifier": self.results}
        done = self._run("harbor-verifier", mounts, *options, command=["/tests/test.sh"])
        told = _read(self.results / "reward.json")
        return f"reward {told['reward']:.3g}" if told else f"no `reward.json`, {_code(done)}"

    def gradescope(self, *options):
        mounts = {"/autograder/submission": self.answer, "/autograder/results": self.results}
        done = self._run("gradescope", mounts, *options, command=["/autograder/run_autograder"])
        told = _read(self.results / "results.json")
        return f"{told['score']:.3g}" if told else f"no `results.json`, {_code(done)}"

    def prairielearn(self, *options):
        question = self.folder / "prairielearn" / "questions" / PROBLEM
        entry = _read(question / "info.json")["externalGradingOptions"]["entrypoint"]
        mounts = {"/grade/student": self.answer, "/grade/tests": question / "tests"}
        mounts["/grade/results"] = self.results
        self._run("prairielearn", mounts, *options, command=[entry])
        told = _read(self.results / "results.json")
        return f"score {told['score']:.3g}" if told["gradable"] else "`gradable: false`"

    def classroom50(self, *options):
        exported = self.folder / "classroom50" / PROBLEM
        mounts = {"/checkout": self.answer, "/autograder": exported, "/temp": self.classroom}
        command = ["python3", "/autograder/autograder.py"]
        env = {**CLASSROOM50, "RUNNER_TEMP": "/temp"}
        done = self._run("python", mounts, *options, at="/checkout", env=env, command=command)
        told = _read(self.answer / "result.json")
        if told is None:
            return f"no `result.json`, {_code(done)}"
        return f"{told['score']} of {told['max-score']}"

    def github_action(self, *options):
        exported = self.folder / "github-action"
        mounts = {"/checkout": self.answer, "/exported": exported, "/temp": self.runner}
        action = "/exported/.github/actions/mha-judge"
        for command, at, env in action_steps(exported, action, "/checkout", "/temp"):
            env = {"GITHUB_STEP_SUMMARY": "/temp/summary.md", **env}
            done = self._run("python", mounts, *options, at=at, env=env, command=command)
        marks = re.findall(r"^::error (?:[^:]*,line=(\d+))?", done.stdout, re.MULTILINE)
        told = f", {len(marks)} mark{'s' * (len(marks) > 1)}" if marks else ""
        lines = ", ".join(sorted({line for line in marks if line}))
        return f"{_code(done)}{told}{lines and f' at line {lines}'}"

    def _new(self):
        return Path(tempfile.mkdtemp(dir=self.folder))

    def _build(self, name, context, dockerfile=None):
        if dockerfile is not None:
            (self.folder / context / "Dockerfile").write_text(dockerfile, "utf-8")
        done = self._docker("build", "-t", f"{OURS}:{name}", context)
        if done.returncode:
            sys.exit(f"{name} cannot be built:\n{done.stdout}{done.stderr}")

    def _run(self, image, mounts, *options, command, at="/", env=None):
        """Run a command in a container that has no network and, as a rule, all memory it needs."""
        given = ["--rm", "--network", "none", "--workdir", at]
        for path, folder in mounts.items():
            given += ["--volume", f"{folder}:{path}"]
        for name, value in (env or {}).items():
            given += ["--env", f"{name}={value}"]
        return self._docker("run", *given, *options, f"{OURS}:{image}", *command)

    def _docker(self, *args):
        command = ["docker", *map(str, args)]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)


def _read(path):
    return json.loads(path.read_text("utf-8")) if path.is_file() else None


def _code(done):
    return f"exit code {done.returncode}"


ROWS = {
    "Harbor": Containers.harbor,
    "Gradescope": Containers.gradescope,
    "PrairieLearn": Containers.prairielearn,
    "Classroom 50": Containers.classroom50,
    "GitHub Actions": Containers.github_action,
}


def write_row(*cells):
    sys.stdout.write(f"| {' | '.join(cells)} |\n")


def main():
    write_row("", *CASES)
    write_row(*["---"] * (len(CASES) + 1))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        containers = Containers(Path(name))
        for row, run in ROWS.items():
            cells = []
            for answer, options in CASES.values():
                containers.hand_in(answer)
                cells.append(run(containers, *options))
            write_row(row, *cells)


if __name__ == "__main__":
    main()
