"""Graded answers to make packets of, without grading anything."""

import pytest

from mha_judge.bank import Bank
from mha_judge.packet.answers import Answer, Environment
from mha_judge.report.models import CheckResult, Diagnosis, Report, SandboxInfo, SubmissionInfo
from mha_judge.submission import Submission

SOURCE = "def scaled_dot_product_attention(q, k, v, mask=None):\n    return v\n"
ENVIRONMENT = Environment(
    judge_version="0.1.0", judge_files="a", problem_files="b", python="3", torch="2", numpy="1"
)
CATEGORIES = {
    "values": "values",
    "scale": "values",
    "weights-everywhere": "values",
    "size-one": "shape",
    "mask": "masking",
    "mask-per-head": "masking",
    "blocked-row-stays-alone": "masking",
    "float64": "numerics",
    "masked-large-logits": "numerics",
    "non-contiguous": "robustness",
    "bad-widths": "robustness",
    "written-from-scratch": "policy",
}
"""Checks of sdpa."""


@pytest.fixture(scope="session")
def bank():
    return Bank.builtin()


@pytest.fixture
def make_answer():
    """Return a function that makes a graded answer to sdpa; what it fails can be said."""

    def make(failed=(), mistakes=(), source=SOURCE, candidate="alice", text="", **fields):
        checks = [
            CheckResult(
                id=name,
                title=f"title of {name} {text}",
                category=category,
                outcome="failed" if name in failed else "passed",
                points=0.0 if name in failed else 9.0,
                max_points=9.0,
                message=f"message {text}" if name in failed else "",
                detail=f"detail {text}" if name in failed else "",
            )
            for name, category in CATEGORIES.items()
        ]
        submission = Submission.of(source, "sdpa.py")
        plain = {
            "problem": "sdpa",
            "title": "Scaled dot-product attention",
            "submission": SubmissionInfo(path="answers/sdpa.py", sha256=submission.sha256),
            "verdict": "rejected" if failed else "accepted",
            "score": 80.0 if failed else 100.0,
            "strict_score": 60.5 if failed else 100.0,
            "seed": 7,
            "sandbox": SandboxInfo(backend="jail", tier="landlock"),
            "checks": checks,
            "diagnoses": [
                Diagnosis(
                    id=name,
                    title=f"mistake {name} {text}",
                    explanation=f"why {name} {text}",
                    hint=f"Look at {name} {text}.",
                    checks=[check for check in failed if check == "scale"],
                    shown_by="scale",
                    cost=15.0,
                )
                for name in mistakes
            ],
            "notes": [f"note {text}"] if text else [],
            "cost": {"cpu_s": 0.25, "peak_memory_bytes": 200.0 * 1024**2},
        }
        return Answer(
            candidate=candidate,
            problem="sdpa",
            path="answers/sdpa.py",
            submission=submission,
            report=Report(**{**plain, **fields}),
            graded_with=ENVIRONMENT,
        )

    return make
