"""The page that is in the package is what its sources make."""

import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "harness" / "mha_judge" / "browser" / "static"


@pytest.mark.slow
@pytest.mark.xdist_group("npm")
def test_the_bundle_is_current(web, tmp_path):
    made = tmp_path / "made"
    made.mkdir()
    subprocess.run(["npm", "run", "check"], cwd=web, check=True, capture_output=True)
    subprocess.run(["node", "build.mjs", str(made)], cwd=web, check=True, capture_output=True)

    for name in ("page.js", "page.js.LICENSE.txt"):
        assert (made / name).read_text("utf-8") == (STATIC / name).read_text("utf-8"), (
            "run `make web`"
        )


def test_its_packages_are_pinned():
    package = json.loads((ROOT / "web" / "package.json").read_text("utf-8"))
    versions = [*package["dependencies"].values(), *package["devDependencies"].values()]

    assert all(version[0].isdigit() for version in versions)
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text("utf-8"))
    assert not any("resolved" in one for one in lock["packages"].values())


def test_it_loads_nothing_from_elsewhere():
    program = (STATIC / "page.js").read_text("utf-8")

    assert "https://" not in program
    assert program.count("http://") == program.count("http://www.w3.org/2000/svg")
    assert "eval(" not in program and "new Function" not in program
