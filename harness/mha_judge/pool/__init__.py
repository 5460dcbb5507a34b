"""Processes that grade, warm from grade to grade, and the queue before them.

`workforce` says what grades at all, `pool` is the parent's part, `process` the parent's end of one
process, `serve` what runs in it.
"""

from mha_judge.pool.job import Job, OpenSandbox
from mha_judge.pool.pool import RECYCLE_AFTER, Pool
from mha_judge.pool.workforce import Grading, Workforce

__all__ = ["RECYCLE_AFTER", "Grading", "Job", "OpenSandbox", "Pool", "Workforce"]
