"""The built wheel works in an environment of its own, away from the checkout, without any extra."""

import importlib.metadata
import json
import os
import pty
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from mha_judge.practice.progress import PATH_VARIABLE

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
SPY = """# problem: sdpa
import glob, os, sys
seen = []
for root in (sys.prefix, os.path.dirname(sys.prefix)):
    for path in ("share/mha-judge/graders/test_sdpa.py", "share/mha-judge/reference/sdpa.py"):
        try:
            seen.append(open(os.path.join(root, path)).read())
        except OSError as error:
            print(type(error).__name__)
if seen:
    print("FOUND")
def sdpa(q, k, v, mask=None):
    return q
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT], check=True)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """Return the folder of programs of a fresh environment that holds the wheel without an extra.

    What it depends on is lent by this environment: to install torch once more takes as long as
    hundreds of grades. The first line of the `.pth` adds a folder and reads no `.pth` in it, so
    that the checkout, which is installed by one, stays out. The second one hides all else.
    """
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    python = folder / "bin" / "python"
    subprocess.run([*pip, "--python", python, "install", "--no-deps", wheel], check=True)
    [packages] = folder.glob("lib/python3.*/site-packages")
    [own] = importlib.metadata.distributions(path=[str(packages)])
    hide = f"import sys; sys.modules.update(dict.fromkeys({modules_beyond(own)}))"
    lent = f"{sysconfig.get_path('purelib')}\n{hide}\n"
    (packages / "lent.pth").write_text(lent, encoding="utf-8")
    return folder / "bin"


def modules_beyond(package: importlib.metadata.Distribution) -> list[str]:
    """Return the modules here that come with nothing that a package needs without its extras."""
    brought = {canonicalize_name(package.name)}
    left = list(package.requires)
    while left:
        needed = Requirement(left.pop())
        name = canonicalize_name(needed.name)
        if name in brought or (needed.marker and not needed.marker.evaluate({"extra": ""})):
            continue
        brought.add(name)
        left += importlib.metadata.requires(name) or []
    return [
        module
        for module, packages in importlib.metadata.packages_distributions().items()
        if brought.isdisjoint(map(canonicalize_name, packages))
    ]


def run(
    program: Path, *arguments: object, cwd: Path, **streams: int
) -> subprocess.CompletedProcess[str]:
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [program, *map(str, arguments)],
        cwd=cwd,
        env={**environment, PATH_VARIABLE: str(cwd / "progress.sqlite3")},
        text=True,
        **(streams or {"capture_output": True}),
    )


def test_wheel_holds_the_package_and_the_bank_apart(wheel):
    names = zipfile.ZipFile(wheel).namelist()

    package = [name for name in names if name.startswith("mha_judge/")]
    shared = [name for name in names if "/data/share/mha-judge/" in name]
    assert package
    assert "mha_judge_attention.py" in names
    for template in ("score/templates/scoreboard.html", "packet/templates/packet.html"):
        assert f"mha_judge/render/{template}" in package
    content = {"problems", "graders", "reference"}
    assert not [name for name in package if "test_" in name or content & set(name.split("/"))]
    parts = ("problems/sdpa/problem.toml", "graders/test_sdpa.py", "reference/sdpa.py")
    for part in (*parts, "skeletons/reference/some_module.py"):
        assert [name for name in shared if name.endswith(part)]


def test_installed_wheel_has_all_that_an_image_is_built_from(installed, tmp_path):
    listing = (
        "import tarfile; from mha_judge.sandbox.container import build\n"
        "with build._context(None) as context, tarfile.open(fileobj=context) as tar:\n"
        "    print(*sorted(member.name for member in tar if member.isfile()), sep='\\n')\n"
    )

    packed = run(installed / "python", "-I", "-c", listing, cwd=tmp_path).stdout.split()
    own = run(sys.executable, "-c", listing, cwd=tmp_path).stdout.split()

    assert {"Dockerfile", "constraints.txt"} <= set(packed)
    assert packed == own


def test_installed_wheel_grades_ranks_and_keeps_what_was_done(installed, tmp_path):
    program = installed / "mha-judge"
    right = (ROOT / "examples" / "right_attention.py").read_text(encoding="utf-8")
    wrong = ROOT / "examples" / "forgets_to_scale.py"

    begun = run(program, "start", "sdpa", cwd=tmp_path)
    (tmp_path / "sdpa.py").write_text(right, encoding="utf-8")
    solved = run(program, "run", "sdpa.py", cwd=tmp_path)
    listed = run(program, "list", cwd=tmp_path)
    ranked = run(program, "score", wrong, "--html", "ranking.html", cwd=tmp_path)
    following = run(program, "practice", cwd=tmp_path)

    assert begun.returncode == 0, begun.stderr
    assert (solved.returncode, ranked.returncode) == (0, 0), solved.stderr + ranked.stderr
    assert "ACCEPTED" in solved.stdout
    assert "attempt 1 · comes back on" in solved.stdout
    assert "✓ sdpa " in listed.stdout
    assert "85" in ranked.stdout
    assert (tmp_path / "ranking.html").exists()
    assert "needs a terminal" in following.stdout, following.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["watch", "sdpa.py"], 2, "`watch` needs textual and watchfiles, which"),
        (["serve"], 2, "`serve` needs fastapi and prometheus_client and uvicorn and websockets"),
        (["score", "sdpa.py", "--dask", "nowhere"], 2, "a Dask cluster needs distributed, which"),
        (["run", "sdpa.py", "--sandbox", "container"], 5, "the container sandbox needs docker"),
        (["sandbox", "build"], 5, "the container sandbox needs docker, which"),
    ],
)
def test_what_needs_an_extra_names_it(installed, tmp_path, arguments, code, message):
    (tmp_path / "sdpa.py").write_text("def sdpa(q, k, v, mask=None): ...\n", encoding="utf-8")

    done = run(installed / "mha-judge", *arguments, cwd=tmp_path)

    assert (done.returncode, done.stderr.count("\n")) == (code, 1), done.stderr
    assert message in done.stderr
    assert "this Python does not have: pip install 'mha-judge[" in done.stderr


@pytest.mark.parametrize(
    ("module", "needed", "extra"),
    [
        ("mha_judge.evaluations.inspect_task", "inspect_ai", "inspect"),
        ("mha_judge_attention", "verifiers", "verifiers"),
    ],
)
def test_an_evaluation_names_its_extra(installed, tmp_path, module, needed, extra):
    done = run(installed / "python", "-I", "-c", f"import {module}", cwd=tmp_path)

    assert done.returncode == 1
    assert f"needs {needed}, which this Python does not have" in done.stderr
    assert f"pip install 'mha-judge[{extra}]'" in done.stderr


def test_the_app_names_its_extra(installed, tmp_path):
    terminal, inside = pty.openpty()

    done = run(
        installed / "mha-judge", "practice", cwd=tmp_path,
        stdin=inside, stdout=inside, stderr=inside,
    )  # fmt: skip
    shown = os.read(terminal, 4096).decode()
    os.close(terminal)
    os.close(inside)

    assert done.returncode == 2, shown
    assert "`practice` needs textual and watchfiles, which" in shown
    assert "pip install 'mha-judge[practice]'" in shown


def test_doctor_names_the_extra_of_the_container_and_goes_on(installed, tmp_path):
    done = run(installed / "mha-judge", "doctor", cwd=tmp_path)

    shown = " ".join(done.stdout.split())
    assert done.returncode == 0, shown + done.stderr
    assert "container cannot be used the container sandbox needs docker, which" in shown
    assert "`--sandbox auto` takes jail" in shown


def test_installed_wheel_begins_problems_but_does_not_add_to_its_own(installed, tmp_path):
    new = (installed / "mha-judge", "bank", "new", "soft-heads", "--like", "gqa")

    begun = run(*new, cwd=tmp_path)
    skeleton = run(*new[:3], "small-heads", cwd=tmp_path)
    refused = run(*new, "--builtin", cwd=tmp_path)
    listed = run(installed / "mha-judge", "list", "--bank", "my-bank", cwd=tmp_path)

    assert (begun.returncode, skeleton.returncode, refused.returncode) == (0, 0, 2)
    assert "the built-in bank is an installation's" in refused.stderr
    assert "soft-heads" in listed.stdout
    assert "small-heads" in listed.stdout


def test_one_line_runs_it_in_an_environment_of_its_own(wheel, tmp_path):
    """uvx installs all that the wheel names, torch too, and grades."""
    pip = [sys.executable, "-m", "pip", "config", "get", "global.find-links"]
    links = (
        os.environ.get("PIP_FIND_LINKS")
        or subprocess.run(pip, capture_output=True, text=True, check=False).stdout.strip()
    )
    where = ["--find-links", links] if links else ["--torch-backend", "cpu"]
    command = [
        Path(sys.executable).with_name("uvx"), *where, "--python", sys.executable, "--constraints",
        ROOT / "constraints.txt", "--from", f"{wheel}[practice]", "mha-judge",
    ]  # fmt: skip
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    environment = {**kept, "UV_CACHE_DIR": str(tmp_path / "cache"), "UV_SYSTEM_CERTS": "1"}

    graded = subprocess.run(
        [*command, "run", ROOT / "examples" / "right_attention.py", "--no-progress"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "error sending request" in graded.stderr:
        pytest.skip("the network does not lead to a package index")

    assert graded.returncode == 0, graded.stderr
    assert "ACCEPTED" in graded.stdout


def test_submission_cannot_read_the_installed_bank(installed, tmp_path):
    spy = tmp_path / "spy.py"
    spy.write_text(SPY, encoding="utf-8")

    graded = run(installed / "mha-judge", "run", spy, "--json", "-", cwd=tmp_path)

    printed = json.loads(graded.stdout)["output"]["text"]
    assert "FOUND" not in printed
    assert printed.count("Error") == 4
