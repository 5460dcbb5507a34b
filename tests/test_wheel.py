"""The built wheel works in an environment of its own, away from the checkout."""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

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
    """Return the folder of programs of a fresh environment that holds the wheel.

    What it depends on is lent by this environment: to install torch once more takes as long as
    hundreds of grades. The line in the `.pth` adds a folder and reads no `.pth` in it, so that the
    checkout, which is installed by one, stays out.
    """
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    python = folder / "bin" / "python"
    subprocess.run([*pip, "--python", python, "install", "--no-deps", wheel], check=True)
    [packages] = folder.glob("lib/python3.*/site-packages")
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder / "bin"


def run(program: Path, *arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [program, *map(str, arguments)], cwd=cwd, env=environment, capture_output=True, text=True
    )


def test_wheel_holds_the_package_and_the_bank_apart(wheel):
    names = zipfile.ZipFile(wheel).namelist()

    package = [name for name in names if name.startswith("mha_judge/")]
    shared = [name for name in names if "/data/share/mha-judge/" in name]
    assert package
    for template in ("score/templates/scoreboard.html", "packet/templates/packet.html"):
        assert f"mha_judge/render/{template}" in package
    content = {"problems", "graders", "reference"}
    assert not [name for name in package if "test_" in name or content & set(name.split("/"))]
    for part in ("problems/sdpa/problem.toml", "graders/test_sdpa.py", "reference/sdpa.py"):
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


def test_installed_wheel_lists_and_grades(installed, tmp_path):
    program = installed / "mha-judge"

    listed = run(program, "list", cwd=tmp_path)
    right = run(program, "run", ROOT / "examples" / "right_attention.py", cwd=tmp_path)
    wrong = run(program, "run", ROOT / "examples" / "forgets_to_scale.py", cwd=tmp_path)

    assert "masked-mha" in listed.stdout
    assert (right.returncode, wrong.returncode) == (0, 1), right.stderr + wrong.stderr
    assert "ACCEPTED" in right.stdout
    assert "REJECTED" in wrong.stdout


def test_submission_cannot_read_the_installed_bank(installed, tmp_path):
    spy = tmp_path / "spy.py"
    spy.write_text(SPY, encoding="utf-8")

    graded = run(installed / "mha-judge", "run", spy, "--json", "-", cwd=tmp_path)

    printed = json.loads(graded.stdout)["output"]["text"]
    assert "FOUND" not in printed
    assert printed.count("Error") == 4
