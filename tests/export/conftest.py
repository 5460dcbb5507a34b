"""The exports of all formats, and the judge as a platform installs it."""

import functools
import shutil
import subprocess
import sys
import zipfile

import pytest
from export.machine import (
    ANSWERS,
    CHECKOUT,
    FILE,
    NAMESPACE,
    NO_SANDBOX,
    PLANTED,
    PROBLEM,
    Machine,
    judge,
)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """Return a wheel whose `mha-judge` is the one of the checkout: torch need not be installed."""
    path = tmp_path_factory.mktemp("wheel") / "checkout-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as bundle:
        about = "checkout-1.dist-info/"
        bundle.writestr("checkout.py", CHECKOUT)
        bundle.writestr(f"{about}METADATA", "Metadata-Version: 2.1\nName: checkout\nVersion: 1\n")
        tag = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        bundle.writestr(f"{about}WHEEL", tag)
        scripts = "[console_scripts]\nmha-judge = checkout:main\n"
        bundle.writestr(f"{about}entry_points.txt", scripts)
        bundle.writestr(f"{about}RECORD", "")
    return path


@pytest.fixture(scope="session")
def exported(wheel, tmp_path_factory):
    """Return the folder of each format's export of one problem."""
    if (
        shutil.which("bwrap") is None
        or subprocess.run([*NAMESPACE, "true"], check=False).returncode
    ):
        pytest.skip("bubblewrap does not work here")
    folder = tmp_path_factory.mktemp("exports")
    formats = ("harbor", "gradescope", "prairielearn", "classroom50", "github-action")
    for name in formats:
        judge("export", name, PROBLEM, "-o", folder / name, "--judge", wheel)
    return {name: folder / name for name in formats}


@pytest.fixture(scope="session")
def machine(tmp_path_factory):
    """Return what makes a machine: its Python is that of the tests, and it needs no packages."""
    folder = tmp_path_factory.mktemp("programs")
    for name, text in {"python3": f'exec {sys.executable} "$@"', "apt-get": ""}.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    return functools.partial(Machine, folder)


@pytest.fixture(scope="session")
def installed(exported, machine, tmp_path_factory):
    """Return `/opt/mha-judge`, as Gradescope's `setup.sh` makes it."""
    folder = tmp_path_factory.mktemp("gradescope")
    for name in ("source", "judge"):
        (folder / name).mkdir()
    with zipfile.ZipFile(exported["gradescope"] / f"{PROBLEM}.zip") as bundle:
        bundle.extractall(folder / "source")
    here = machine({"/autograder/source": folder / "source", "/opt/mha-judge": folder / "judge"})
    done = here.run("bash", "/autograder/source/setup.sh")
    assert done.returncode == 0, done.stderr
    return folder / "judge"


@pytest.fixture(params=list(ANSWERS))
def case(request):
    return request.param


@pytest.fixture
def answer(case, tmp_path):
    """Return a folder with an answer; beside a hostile one lies what it would like to be run."""
    folder = tmp_path / "answer"
    folder.mkdir()
    for name, text in PLANTED.items() if case == "hostile" else ():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / FILE).write_text(ANSWERS[case], encoding="utf-8")
    return folder


@pytest.fixture
def world(case):
    """Return the environment of a case."""
    return NO_SANDBOX if case == "undecidable" else {}
