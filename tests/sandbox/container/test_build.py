"""The context an image is built from, and what a build that fails says."""

import re
import tarfile
import tomllib
from pathlib import Path

import pytest

from mha_judge.errors import UsageError
from mha_judge.sandbox.container import build, engine
from mha_judge.version import __version__
from mha_judge.wire import PROTOCOL

ROOT = Path(__file__).resolve().parents[3]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def names_in(wheels=None):
    with build._context(wheels) as context, tarfile.open(fileobj=context) as tar:
        return {member.name for member in tar.getmembers() if member.isfile()}


def test_the_context_is_the_worker_and_nothing_else():
    package = {name for name in names_in() if name.startswith("harness/")}

    assert names_in() - package == {"Dockerfile", "constraints.txt"}
    assert "harness/mha_judge/worker/supervisor.py" in package
    assert all(
        name == "harness/mha_judge/__init__.py"
        or name.startswith(("harness/mha_judge/worker/", "harness/mha_judge/wire/"))
        for name in package
    )
    assert not [name for name in package if name.endswith(".pyc")]


def test_wheels_come_along(tmp_path):
    (tmp_path / "torch-1-py3-none-any.whl").write_bytes(b"")
    (tmp_path / "notes.txt").write_bytes(b"")

    assert "wheels/torch-1-py3-none-any.whl" in names_in(tmp_path)
    assert "wheels/notes.txt" not in names_in(tmp_path)


def test_a_folder_without_wheels_is_refused(tmp_path):
    with pytest.raises(UsageError, match="holds no wheels; fill it"):
        names_in(tmp_path)


def test_every_folder_that_the_dockerfile_copies_is_let_through_by_dockerignore():
    allowed = {
        line[1:]
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line.startswith("!")
    }

    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE)
    sources = {source.replace("wheel[s]", "wheels") for line in copied for source in line.split()}
    assert sources == allowed


def test_the_label_of_the_protocol_is_the_judges():
    assert f'{engine.PROTOCOL_LABEL}="{PROTOCOL}"' in DOCKERFILE


def test_the_packages_of_the_image_are_dependencies_of_the_judge():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {re.match(r"[a-z-]+", name)[0] for name in project["dependencies"]}

    assert set(build.PACKAGES) <= declared
    assert " ".join(build.PACKAGES) in DOCKERFILE


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ("write /x: no space left on device", "the disk is full"),
        ("No matching distribution found for torch", "does .* have the same"),
        ("pull access denied for nothing", "name one that is here: --base"),
        ("exit code 1", "what the step printed says why"),
    ],
)
def test_a_build_that_fails_says_why_and_what_it_printed(event, message):
    class Engine:
        def build(self, **_):
            yield {"stream": "Step 1/2 : FROM somewhere\n"}
            yield {"stream": "\x1b[91mpip is unhappy\x1b[0m\n"}
            yield {"error": event}

    steps = []
    with pytest.raises(build.BuildFailed, match=message) as raised:
        steps.extend(build._run(Engine(), build.Recipe("tag", wheels=ROOT), None))

    assert raised.value.printed == ("pip is unhappy",)
    assert raised.value.exit_code >= 3


def test_a_build_with_wheels_has_no_network_and_no_index():
    asked = {}

    class Engine:
        def build(self, **arguments):
            asked.update(arguments)
            return iter(())

    list(build._run(Engine(), build.Recipe("tag", base="here"), None))

    assert asked["network_mode"] == "none"
    given = {"BASE": "here", "VERSION": __version__}
    assert asked["buildargs"] == {**given, "PIP_OPTIONS": "--no-index"}


def test_a_build_with_an_index_lets_pip_fetch():
    recipe = build.Recipe("tag", base="here", torch_index="somewhere", network="host")

    assert recipe.online
    given = {"BASE": "here", "VERSION": __version__}
    assert build._arguments(recipe) == {**given, "TORCH_INDEX": "somewhere"}
