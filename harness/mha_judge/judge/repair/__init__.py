"""Slips that stop a program, each with the file as it is with this one place repaired.

A missing colon, a misspelt name or an axis that is off fails every check, and says nothing of what
the file would compute. So the file is graded with this place repaired, at the price of a slip; it
is never accepted. Files are read here, as text and as a tree, and never run.
"""

from mha_judge.judge.repair.kinds import repairs
from mha_judge.judge.repair.place import ID, Repair, Stop
from mha_judge.judge.repair.stop import stop_of

__all__ = ["ID", "Repair", "Stop", "repairs", "stop_of"]
