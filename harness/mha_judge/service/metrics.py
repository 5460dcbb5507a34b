"""What Prometheus is told: queue, grades by verdict and problem, their time, faults, the tier."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    disable_created_metrics,
    generate_latest,
)

from mha_judge.report.models import NOTHING_RUN, Report
from mha_judge.service.models import Reason

_SECONDS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0)


class Metrics:
    """The figures of one server."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # a series more for each, which nobody reads
        self._registry = CollectorRegistry()
        self._waiting = Gauge(
            "mha_judge_waiting", "Answers that wait for their turn.", registry=self._registry
        )
        self._running = Gauge(
            "mha_judge_running", "Answers that are being graded.", registry=self._registry
        )
        self._grades = Counter(
            "mha_judge_grades", "Reports.", ("problem", "verdict"), registry=self._registry
        )
        self._ended = Counter(
            "mha_judge_without_verdict", "Answers that got none.", ("reason",),
            registry=self._registry,
        )  # fmt: skip
        self._faults = Counter(
            "mha_judge_faults", "Failures of the judge; an answer is tried again after its first.",
            ("kind",), registry=self._registry,
        )  # fmt: skip
        self._seconds = Histogram(
            "mha_judge_grade_seconds", "What a grade took, without waiting.", ("problem",),
            buckets=_SECONDS, registry=self._registry,
        )  # fmt: skip
        self._sandbox = Info("mha_judge_sandbox", "How answers run.", registry=self._registry)

    def watch(self, waiting: Callable[[], int], running: Callable[[], int]) -> None:
        """Take the queue's two lengths from these whenever somebody asks."""
        self._waiting.set_function(waiting)
        self._running.set_function(running)

    def graded(self, report: Report) -> None:
        """Count a report."""
        self._grades.labels(report.problem, report.verdict.value).inc()
        self._seconds.labels(report.problem).observe(report.timings_s.get("total", 0.0))
        self.confined(report)

    def confined(self, report: Report) -> None:
        """Tell how an answer ran; of one that is no Python nothing is run."""
        if report.sandbox.tier == NOTHING_RUN:
            return
        self._sandbox.info({"backend": report.sandbox.backend, "tier": report.sandbox.tier})

    def ended(self, reason: Reason) -> None:
        """Count an answer that got no verdict."""
        self._ended.labels(reason.value).inc()

    def failed(self, error: Exception) -> None:
        """Count a failure of the judge."""
        self._faults.labels(type(error).__name__).inc()

    def text(self) -> bytes:
        """Return all figures in Prometheus' format."""
        return generate_latest(self._registry)
