"""From graded answers to packets."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from mha_judge.bank import Bank
from mha_judge.packet.answers import Answer
from mha_judge.packet.dimensions import dimensions
from mha_judge.packet.models import Failed, Made, Notes, Packet, Questions, Sheet
from mha_judge.packet.questions import general, questions
from mha_judge.report.models import LoadProblem, PolicyFinding, Report
from mha_judge.report.summary import explained_by, in_one_sentence, summarise
from mha_judge.sanitising import visible


def build(
    candidate: str,
    answers: Sequence[Answer],
    bank: Bank,
    language: str = "en",
    notes: Notes | None = None,
) -> Packet:
    """Return the packet of one candidate.

    Args:
        candidate: Who it is.
        answers: What this candidate handed in, graded.
        bank: Whose problems they answer.
        language: `en` or `zh`: of the general questions.
        notes: What an interviewer has typed into an earlier page of this packet.

    Raises:
        BankError: If the bank is broken.
    """
    return Packet(
        made=datetime.date.today().isoformat(),
        candidate=candidate,
        language=language,
        answers=[_sheet(answer, bank, language) for answer in answers],
        dimensions=dimensions(one.report for one in answers if one.report is not None),
        interviewer=notes or Notes(candidate=candidate),
    )


def _sheet(answer: Answer, bank: Bank, language: str) -> Sheet:
    report, submission = answer.report, answer.submission
    if report is None:
        sheet = Sheet(
            problem=answer.problem,
            title=bank.problem(answer.problem).title,
            path=answer.path,
            sha256=submission.sha256 if submission is not None else "",
            verdict=None,
            score=None,
            strict_score=None,
            seed=None,
            sandbox="",
            not_graded=answer.failure,
            questions=Questions(general=general(answer.problem, bank, language)),
        )
    else:
        sheet = Sheet(
            problem=report.problem,
            title=report.title,
            path=answer.path,
            sha256=report.submission.sha256,
            verdict=report.verdict,
            score=report.score,
            strict_score=report.strict_score,
            seed=report.seed,
            sandbox=report.sandbox.tier,
            sentence=in_one_sentence(report),
            load_problem=_of_loading(report.load_problem),
            mistakes=_mistakes(report),
            failures=_failures(report),
            failing_call=report.failing_call,
            wrong_where=report.wrong_where,
            findings=[_finding(finding) for finding in report.policy],
            notes=report.remarks,
            questions=questions(report, bank, language),
        )
    lines = [] if submission is None else _lines(submission.source)
    graded_with = answer.graded_with
    return sheet.model_copy(
        update={
            "source": lines,
            "no_source": answer.no_source,
            "bank": graded_with.problem_files[:12] if graded_with is not None else "",
        }
    )


def _of_loading(problem: LoadProblem | None) -> str:
    if problem is None:
        return ""
    return problem.message if problem.line is None else f"line {problem.line}: {problem.message}"


def _finding(finding: PolicyFinding) -> str:
    return finding.message if finding.line is None else f"line {finding.line}: {finding.message}"


def _mistakes(report: Report) -> list[Made]:
    return [
        Made(
            id=made.id,
            title=made.title,
            severity=made.severity,
            cost=made.cost,
            explanation=made.explanation,
            hint=made.hint,
            checks=[check.title for check in explained_by(made, report)],
        )
        for made in report.diagnoses
    ]


def _failures(report: Report) -> list[Failed]:
    return [
        Failed(
            id=check.id,
            title=check.title,
            category=check.category,
            outcome=check.outcome,
            message=check.message,
            detail=check.detail,
        )
        for check in summarise(report).unexplained
    ]


def _lines(source: str) -> list[str]:
    """Return the lines as Python counts them."""
    text = source.replace("\r\n", "\n").replace("\r", "\n")
    return visible(text).removesuffix("\n").split("\n")
