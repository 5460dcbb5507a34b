"""`mha_judge/attention` in Inspect itself, with a model that says what it is told."""

import importlib.util
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("inspect_ai") is None,
        reason="needs Inspect: pip install 'mha-judge[inspect]'",
    ),
]
SCRIPT = Path(__file__).with_name("ask_by_inspect.py")


def ask(folder, completions, **arguments):
    """Return the log of as many epochs as there are completions for each problem."""
    [epochs] = {len(said) for said in completions.values()}
    asked = {
        "completions": completions, "epochs": epochs, "arguments": arguments, "logs": str(folder),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, SCRIPT], input=json.dumps(asked), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_completion_has_its_score_and_without_a_verdict_it_has_none(
    tmp_path, bank, right, wrong, hostile
):
    said = [right, wrong, hostile, "I cannot.", ""]
    log = ask(
        tmp_path, {"broken": [right] * len(said), "softmax": said},
        problems=["softmax", "broken"], language="zh", bank=str(bank), sandbox="jail",
    )  # fmt: skip
    scores = {
        (sample["id"], sample["output"]["choices"][0]["message"]["content"]): sample["scores"]
        for sample in log["samples"]
    }
    judged = {key: score["judged"] for key, score in scores.items()}

    assert "请写出这个文件" in log["samples"][0]["input"]
    assert [judged["softmax", one]["value"] for one in said] == [
        {"accepted": "C", "score": 1}, {"accepted": "I", "score": 0.85},
        *[{"accepted": "I", "score": 0}] * 3,
    ]  # fmt: skip
    assert [judged["softmax", one]["reason"] for one in said[2:]] == [
        None, "invalid_response_format", "no_response",
    ]  # fmt: skip
    told = judged["softmax", wrong]
    assert [one["id"] for one in told["metadata"]["mistakes"]] == ["no-max-subtraction"]
    assert "large-numbers" in [one["id"] for one in told["metadata"]["failed_checks"]]
    assert "The exponentials overflow" in told["explanation"]
    assert told["answer"] in wrong

    undecided = judged["broken", right]
    assert math.isnan(float(undecided["value"]))
    assert undecided["reason"] == "scoring_failed"
    assert undecided["metadata"] == {"error": "BankError"}
    accepted, score = log["results"]["scores"]
    assert (accepted["name"], accepted["metrics"]["accuracy"]["value"]) == ("accepted", 1 / 5)
    assert (score["name"], score["metrics"]["mean"]["value"]) == ("score", 1.85 / 5)
    assert (accepted["scored_samples"], accepted["unscored_samples"]) == (1, 1)
