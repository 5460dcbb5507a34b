"""What a platform finds when the judge has ended, however it ends."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from mha_judge.bank import Bank
from mha_judge.errors import UsageError
from mha_judge.export.platform import Told
from mha_judge.export.platforms import PLATFORMS
from mha_judge.export.shown import shown
from mha_judge.report.models import Report, Reveal
from mha_judge.sanitising import clean_line
from mha_judge.submission import Submission

_CUT_SHORT = "the judge ended before it had a verdict"


def hand_back(
    name: str,
    result: Path,
    grade: Callable[[], tuple[Submission | None, Report]],
    bank: Bank,
    reveal: Reveal,
    language: str,
) -> Report:
    """Grade an answer, and tell a platform the verdict, or that there is none.

    That there is none is told before anything is graded: it stands even if this process is killed.

    Args:
        name: Of the platform.
        result: Its result file. What lies there is removed, and no link is followed: a submission
            may have put it there.
        grade: Returns the answer, None if it could not be read, and what came of it.
        bank: Where its problem lies.
        reveal: How much the platform is told.
        language: `en` or `zh`.

    Raises:
        JudgeError: There is no verdict.
    """
    platform = PLATFORMS[name]
    told = platform.no_verdict(_CUT_SHORT)
    _write(result, told)
    try:
        submission, report = grade()
        told = platform.verdict(shown(report, submission, bank, reveal, language))
    except Exception as error:
        told = platform.no_verdict(clean_line(str(error), 4_000))
        raise
    finally:
        _write(result, told)
        sys.stdout.write(told.printed)
    return report


def _write(path: Path, told: Told) -> None:
    try:
        path.unlink(missing_ok=True)
        if told.result is not None:
            with path.open("x", encoding="utf-8") as file:
                file.write(told.result)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}; name another file"
        ) from error
