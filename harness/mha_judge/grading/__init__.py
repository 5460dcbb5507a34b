"""The trusted side: what a grader is written with."""

from mha_judge.grading.calling.candidate import Candidate, gradient_modes, untraced
from mha_judge.grading.calling.gpu import Gpu
from mha_judge.grading.checks.assertions import (
    assert_gradients_match,
    assert_inputs_unchanged,
    assert_no_extra_parameters,
    assert_rejected,
    fail,
)
from mha_judge.grading.checks.check import check, restated
from mha_judge.grading.checks.choices import assert_choice
from mha_judge.grading.checks.counts import assert_count, assert_same_formula, assert_same_growth
from mha_judge.grading.checks.gpu import (
    assert_memory_grows_linearly,
    assert_stays_on_device,
    report_speed,
)
from mha_judge.grading.checks.observing import observe_way_back, ways_to_observe
from mha_judge.grading.checks.policy import (
    assert_grows_at_most,
    assert_no_autograd,
    assert_no_library_loss,
    assert_no_library_norm,
    assert_not_imported,
    assert_operations_do_not_grow,
    assert_written_from_scratch,
)
from mha_judge.grading.draw import Draw
from mha_judge.grading.expecting.answer import assert_close

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
    "assert_no_library_loss",
    "assert_no_library_norm",
    "assert_not_imported",
    "assert_operations_do_not_grow",
    "assert_rejected",
    "assert_same_formula",
    "assert_same_growth",
    "assert_stays_on_device",
    "assert_written_from_scratch",
    "check",
    "fail",
    "gradient_modes",
    "observe_way_back",
    "report_speed",
    "restated",
    "untraced",
    "ways_to_observe",
]
