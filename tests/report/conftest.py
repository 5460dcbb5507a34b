"""Reports to render."""

import pytest

from mha_judge.report.models import (
    CheckResult,
    Diagnosis,
    Output,
    PolicyFinding,
    Report,
    SandboxInfo,
    SubmissionInfo,
)


@pytest.fixture
def make_report():
    """Return a function that makes a rejected report; its texts can be replaced."""

    def make(text: str = "", **fields) -> Report:
        def check(name, outcome, category="values", advisory=False):
            return CheckResult(
                id=name,
                title=f"Title of {name}",
                category=category,
                outcome=outcome,
                points=10.0 if outcome == "passed" else 0.0,
                max_points=10.0,
                advisory=advisory,
                message=f"message of {name} {text}",
                detail=f"detail of {name} {text}",
                diagnosis=f"diagnosis of {name} {text}" if outcome == "failed" else None,
            )

        checks = [
            check("good", "passed", "shape"),
            check("bad", "failed"),
            check("late", "timeout"),
            check("raised", "error"),
            check("dead", "crashed"),
            check("open", "not_assessed"),
            check("extra", "failed", advisory=True),
        ]
        plain = {
            "problem": "sdpa",
            "title": "Attention",
            "verdict": "rejected",
            "score": 12.5,
            "strict_score": 10.0,
            "seed": 7,
            "submission": SubmissionInfo(path=f"sdpa.py{text}", sha256="0" * 64),
            "sandbox": SandboxInfo(backend="jail", tier="landlock"),
            "checks": checks,
            "diagnoses": [
                Diagnosis(
                    id="x",
                    title=f"a diagnosis {text}",
                    explanation=f"why {text}",
                    hint=f"a hint on x {text}",
                )
            ],
            "policy": [PolicyFinding(rule="fused-attention", line=3, message=f"a finding {text}")],
            "notes": [f"a note {text}"],
            "hints": {"values": "a hint on values"},
            "output": Output(text=f"printed {text}"),
            "timings_s": {"total": 1.5},
        }
        return Report(**{**plain, **fields})

    return make
