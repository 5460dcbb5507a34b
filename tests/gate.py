"""What a run of the tests leaves out, where a part is drawn, and what it took.

As a program it prints the table of `make prove`: `python tests/gate.py VERIFY.json TESTS.json`.
"""

import json
import sys
from collections import Counter
from pathlib import Path, PurePath

import pytest

from mha_judge.bank import Bank
from mha_judge.certify.draw import draw
from mha_judge.errors import UsageError

DEAREST = 10
"""How many of the groups of tests that took longest are named."""


def add_options(parser):
    options = parser.getgroup("mha-judge")
    options.addoption(
        "--since",
        metavar="REV",
        help="run an eleventh of the slow tests of what git sees unchanged since this commit",
    )
    options.addoption("--turn", type=int, help="which; default: another after every commit")
    options.addoption("--minutes", metavar="PATH", help="write what each group of tests took")


def plugins(config):
    """Return what a run needs, by the options that it was given."""
    since, turn = config.getoption("--since"), config.getoption("--turn")
    minutes = Minutes(config.getoption("--minutes"))
    if since is turn is None:
        return [minutes]
    bank = Bank.builtin()
    try:
        return [minutes, Part(draw(bank, bank.ids, since, turn))]
    except UsageError as error:
        raise pytest.UsageError(str(error)) from error


def drawn_with(path):
    """Return the mark of a test that belongs to a file of `tests/submissions`."""
    place = path.relative_to(Bank.builtin().root).as_posix()
    return pytest.mark.drawn(problem=path.parent.name, name=path.stem, path=place)


class Part:
    """Leaves out what is not drawn: of what belongs to a problem, and of slow tests of the engine.

    What belongs to a problem carries the mark `drawn` with the problem's id and the name of a thing
    of its own, and further what `Draw.takes` knows, or the path of its file, which is always tried
    if it has changed, or a check of its problem. So are slow tests whose module has, or what it
    shares with its folder.
    """

    def __init__(self, drawn):
        self.drawn = drawn
        self.counts = None
        """How many tests may be left out, and how many were, as one of the processes tells."""

    def pytest_collection_modifyitems(self, config, items):
        belonging = [item for item in items if self._may_be_left_out(item)]
        left_out = {item for item in belonging if not self._takes(item)}
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]
        self.counts = [len(belonging), len(left_out)]

    def _may_be_left_out(self, item):
        return any(item.get_closest_marker(name) for name in ("drawn", "slow"))

    def _takes(self, item):
        mark = item.get_closest_marker("drawn")
        if mark is None:
            return self.has_changed(item.location[0]) or self.drawn.draws(item.nodeid)
        how = dict(mark.kwargs)
        path = how.pop("path", None)  # of a submission
        if path and (path in self.drawn.touched or how["problem"] in self.drawn.rechecked):
            return True
        return self.drawn.takes(how.pop("problem"), how.pop("name"), **how)

    def has_changed(self, name):
        """Return whether a module of tests has, or what it shares with the others of its folder."""
        module = PurePath(name)
        folder = module.parent if module.parent != PurePath("tests") else None
        return any(
            path == module or (path.parent == folder and not path.name.startswith("test_"))
            for path in map(PurePath, self.drawn.touched)
        )

    def pytest_sessionfinish(self, session):
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["counts"] = self.counts

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        self.counts = getattr(node, "workeroutput", {}).get("counts") or self.counts

    def pytest_terminal_summary(self, terminalreporter):
        belonging, left_out = self.counts or (0, 0)
        terminalreporter.write_line(
            f"{self.drawn} Of {belonging} tests of such things, and slow tests of modules that "
            f"have not changed, {left_out} were left out."
        )


class Minutes:
    """Names the folders, and modules that lie in none, whose tests took longest."""

    def __init__(self, path=None):
        self._path = path
        self.seconds, self.tests = Counter(), Counter()

    def pytest_runtest_logreport(self, report):
        path = PurePath(report.nodeid.partition("::")[0])
        group = path.name if path.parent.name in ("tests", "") else f"{path.parent}/"
        self.seconds[group] += report.duration
        self.tests[group] += report.when == "call"

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.write_sep("=", "dearest groups of tests, in seconds of one process")
        for group, seconds in self.seconds.most_common(DEAREST):
            terminalreporter.write_line(f"{seconds:7.0f} s  {self.tests[group]:5} in {group}")
        if self._path:
            told = {group: [self.tests[group], seconds] for group, seconds in self.seconds.items()}
            Path(self._path).write_text(json.dumps(told), encoding="utf-8")


def table(verified, tested):
    """Return what was proven, how many of it, and how long it took, dearest first.

    Args:
        verified: What `verify --json` wrote.
        tested: What `--minutes` wrote.
    """
    rows = Counter()
    counts = Counter()
    for certificate in verified["problems"]:
        for kind, tally in certificate["graded"].items():
            rows[f"verify: {kind}"] += tally["seconds"]
            counts[f"verify: {kind}"] += tally["tried"]
    for group, (count, seconds) in tested.items():
        rows[f"tests: {group}"] += seconds
        counts[f"tests: {group}"] += count
    lines = [f"{'what':<32}{'how many':>10}{'seconds':>10}"]
    lines += [f"{what:<32}{counts[what]:>10}{took:>10.0f}" for what, took in rows.most_common()]
    return [*lines, f"{'in all':<32}{counts.total():>10}{rows.total():>10.0f}"]


def told(path, nothing):
    """Return what a file holds, or `nothing`, and say so, if the run that writes it was cut off."""
    if not Path(path).is_file():
        sys.stdout.write(f"{path} was not written: that part ended early, and is not counted\n")
        return nothing
    return json.loads(Path(path).read_text("utf-8"))


if __name__ == "__main__":
    verified, tested = told(sys.argv[1], {"problems": []}), told(sys.argv[2], {})
    sys.stdout.write("\n".join(table(verified, tested)) + "\n")
