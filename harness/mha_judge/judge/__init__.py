"""One submission, from its source to a report."""

from mha_judge.judge.judge import MAX_SEED, fresh_seed, grade, prepare, try_call
from mha_judge.judge.unparsed import unparsed

__all__ = ["MAX_SEED", "fresh_seed", "grade", "prepare", "try_call", "unparsed"]
