"""The seed of each problem in a run of the tests: another in each run, one in all its processes.

All answers to a problem are graded under it, so that much is remembered, as in a class.
"""

import os
import random

from mha_judge.bank import Bank

SEEDS = {
    one: random.Random(f"{os.environ.get('PYTEST_XDIST_TESTRUNUID')} {one}").randrange(2**53)
    for one in Bank.builtin().ids
}
