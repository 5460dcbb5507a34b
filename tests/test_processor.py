"""Judge and workers compute with one instruction set, whatever the processor and the user offer."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from mha_judge import processor
from mha_judge.sandbox.launch import environment

pytestmark = pytest.mark.slow

SUBMISSIONS = Path(__file__).parent / "submissions"
RUN = random.Random(os.environ.get("PYTEST_XDIST_TESTRUNUID"))  # the same in all its processes
FILES = {
    SUBMISSIONS / "padding-mask" / "right_pairwise_mask_chinese.py",
    *(RUN.choice(sorted(folder.glob("*.py")))
      for folder in RUN.sample(sorted(SUBMISSIONS.glob("[!b]*")), 2)),
}  # fmt: skip
"""One that a bug of AMX kernels once failed, and answers to two problems, others in each run."""
OUTSIDE = {
    "default": {},
    "AVX-512": {
        "ONEDNN_MAX_CPU_ISA": "AVX512_CORE",
        "ATEN_CPU_CAPABILITY": "avx512",
        "MKL_CBWR": "AVX512",
        "OPENBLAS_CORETYPE": "SkylakeX",
    },
}


def has_avx2():
    return bool(processor.variables())


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers")
    for file in FILES:
        (folder / f"{file.parent.name}__{file.name}").write_bytes(file.read_bytes())
    return folder


def graded(answers, folder, variables):
    """Return what `score` made of the answers in an environment with these variables."""
    known = {*OUTSIDE["AVX-512"], *variables}
    plain = {name: value for name, value in os.environ.items() if name not in known}
    command = [sys.executable, "-m", "mha_judge", "score", str(answers), "--seed", "5"]
    results = folder / "results.jsonl"
    subprocess.run(
        [*command, "--sandbox", "jail", "-j", "1", "--results", results],
        env={**plain, **variables}, check=True, capture_output=True, cwd=folder,
    )  # fmt: skip
    lines = [json.loads(line) for line in results.read_text("utf-8").splitlines()[1:]]
    return {line["candidate"]: line["report"] for line in lines}


def essence(report):
    checks = [(c["id"], c["outcome"], c["points"]) for c in report["checks"]]
    diagnoses = [diagnosis["id"] for diagnosis in report["diagnoses"]]
    return report["verdict"], report["score"], checks, diagnoses, report["instruction_set"]


def test_grades_do_not_depend_on_what_is_set_outside(answers, tmp_path):
    graded_by = {}
    for name, variables in OUTSIDE.items():
        (tmp_path / name).mkdir()
        reports = graded(answers, tmp_path / name, variables)
        graded_by[name] = {who: essence(report) for who, report in reports.items()}

    assert len(graded_by["default"]) == len(FILES)
    assert graded_by["AVX-512"] == graded_by["default"]
    if has_avx2():
        assert {essence[-1] for essence in graded_by["default"].values()} == {"AVX2"}


@pytest.mark.skipif(not has_avx2(), reason="this processor has no AVX2 to be held to")
def test_every_library_of_a_worker_is_held_to_avx2():
    lines = (
        "import torch\n"
        "print('ATen:', torch.backends.cpu.get_cpu_capability(), flush=True)\n"
        "with torch.backends.mkldnn.verbose(1):\n"
        "    torch.conv2d(torch.ones(1, 64, 64, 64), torch.ones(64, 64, 3, 3))\n"
    )

    said = subprocess.run(
        [sys.executable, "-c", lines], env=environment(), check=True, capture_output=True, text=True
    ).stdout

    assert "ATen: AVX2\n" in said
    assert "isa:Intel AVX2\n" in said  # oneDNN's own word


def test_nothing_is_forced_upon_a_processor_without_avx2(tmp_path, monkeypatch):
    old = tmp_path / "cpuinfo"
    old.write_text("processor\t: 0\nflags\t\t: fpu sse4_2 avx\nbogomips\t: 1\n")
    monkeypatch.setattr(processor, "_CPUINFO", old)

    assert processor.variables() == {}
    assert "ATEN_CPU_CAPABILITY" not in environment()


def test_another_architecture_is_left_to_choose(tmp_path, monkeypatch):
    monkeypatch.setattr(processor, "_CPUINFO", tmp_path / "missing")

    assert processor.variables() == {}
