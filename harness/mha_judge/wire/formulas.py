"""How a worker tells what an answer compares sizes with.

A formula is a whole number, a size as a list of its value alone, or a list of one of `ARITHMETIC`
and two formulas. A comparison is a list of one of `COMPARISONS` and two formulas. The names are
those of methods of `int`.
"""

ARITHMETIC = (
    "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__floordiv__",
    "__rfloordiv__", "__mod__", "__rmod__",
)  # fmt: skip
COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
