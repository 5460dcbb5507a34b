"""The trusted side: what a grader is written with."""

from mha_judge.grading.calling.candidate import Candidate
from mha_judge.grading.checks.assertions import (
    assert_close,
    assert_gradients_match,
    assert_inputs_unchanged,
    assert_no_extra_parameters,
    assert_rejected,
    fail,
)
from mha_judge.grading.checks.check import check
from mha_judge.grading.checks.choices import assert_choice
from mha_judge.grading.checks.counts import assert_count, assert_same_formula, assert_same_growth
from mha_judge.grading.checks.draw import Draw
from mha_judge.grading.checks.gpu import (
    Gpu,
    assert_memory_grows_linearly,
    assert_stays_on_device,
    report_speed,
)
from mha_judge.grading.checks.policy import (
    assert_grows_at_most,
    assert_no_autograd,
    assert_not_imported,
    assert_operations_do_not_grow,
    assert_written_from_scratch,
)

__all__ = [
    "Candidate",
    "Draw",
    "Gpu",
    "assert_choice",
    "assert_close",
    "assert_count",
    "assert_gradients_match",
    "assert_grows_at_most",
    "assert_inputs_unchanged",
    "assert_memory_grows_linearly",
    "assert_no_autograd",
    "assert_no_extra_parameters",
    "assert_not_imported",
    "assert_operations_do_not_grow",
    "assert_rejected",
    "assert_same_formula",
    "assert_same_growth",
    "assert_stays_on_device",
    "assert_written_from_scratch",
    "check",
    "fail",
    "report_speed",
]
