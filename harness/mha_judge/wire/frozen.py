"""Which parameters are frozen in a call, so that judge and worker mean the same ones."""

from collections.abc import Sequence


def frozen_names(names: Sequence[str], which: str, number: int) -> list[str]:
    """Return the names of the parameters that are frozen.

    Args:
        names: All parameters of a layer, by path.
        which: `yes` for all, `one`, a `map` with its bias, or `all but one`.
        number: Which one, modulo their count.
    """
    if which == "yes" or not names:
        return [*names]
    chosen = names[number % len(names)]
    if which == "map":
        owner, dot, _ = chosen.rpartition(".")
        return [one for one in names if one == chosen or (dot and one.rpartition(".")[0] == owner)]
    return [one for one in names if (one == chosen) is (which == "one")]
