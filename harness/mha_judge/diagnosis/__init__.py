"""From failed checks to the misconception behind them: the known mistakes, replayed."""

from mha_judge.diagnosis.explain import Diagnostician, Explanation
from mha_judge.diagnosis.programs import Catalogue

__all__ = ["Catalogue", "Diagnostician", "Explanation"]
