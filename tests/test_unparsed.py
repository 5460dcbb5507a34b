"""A file that is no Python is told so at once, in the words in which a worker would."""

from contextlib import closing

import pytest
from click.testing import CliRunner

from mha_judge.bank import Bank
from mha_judge.cli import main
from mha_judge.grading.calling.session import LoadFailed, Session
from mha_judge.judge import unparsed
from mha_judge.outcomes import Verdict
from mha_judge.render.report import junit
from mha_judge.sandbox import SandboxOptions
from mha_judge.submission import Submission

PROBLEM = Bank.builtin().problem("sdpa")
HEAD = "# problem: sdpa\nimport torch\n\n\ndef sdpa(q, k, v):\n"
BROKEN = {
    "two signs": HEAD + "    x = = q\n    return x\n",
    "a bracket and more": HEAD + "    return ((q @ k\n    x = = 3\n",
    "indent": HEAD + "return v\n",
    "unindent": HEAD + "        x = 1\n    return v\n",
    "tabs": HEAD + "        x = 1\n\treturn v\n",
    "a word": HEAD + "    retrun v\n",
    "print": HEAD + "    print v\n    return v\n",
    "no end of a text": HEAD + "    return 'v\n",
    "Chinese before it": HEAD + "    注意力 = = q\n    return 注意力\n",
    "a long line": HEAD + "    x = = " + "q" * 500 + "\n",
    "an f-string": HEAD + "    return f'{q!}'\n",
}


@pytest.fixture(scope="module")
def channel():
    with closing(SandboxOptions("jail").open()) as opened:
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("source", BROKEN.values(), ids=BROKEN.keys())
def test_it_says_what_a_worker_would(source, channel):
    submission = Submission.of(source, "sdpa.py")

    report = unparsed(submission, PROBLEM, seed=1)

    with (
        closing(Session(channel, submission, PROBLEM.limits, seed=1)) as session,
        pytest.raises(LoadFailed) as failed,
    ):
        session.load()
    assert report is not None
    assert report.load_problem == failed.value.problem
    assert (report.verdict, report.score) == (Verdict.ERROR, 0)


@pytest.mark.parametrize(
    "source",
    [
        HEAD + "    return v\n",
        HEAD.replace(":\n", "\n", 1) + "    return v\n",  # a header is no code
        HEAD.replace("v):", "v)") + "    return v\n",  # a colon that can be put there
        HEAD + "    return (v\n",
        HEAD + "    return v\nreturn 3\n",  # told by the compiler alone
        HEAD + "    return " + "(" * 90 + "v" + ")" * 90 + "\n",
    ],
)
def test_what_may_be_run_or_repaired_is_left_to_the_worker(source):
    assert unparsed(Submission.of(source, "sdpa.py"), PROBLEM, seed=1) is None


def test_run_starts_no_sandbox_for_it(tmp_path, monkeypatch):
    monkeypatch.setattr(SandboxOptions, "open", lambda _: pytest.fail("a sandbox was started"))
    path = tmp_path / "sdpa.py"
    path.write_text(BROKEN["two signs"], encoding="utf-8")

    result = CliRunner().invoke(main, ["run", str(path)])

    assert result.exit_code == 1
    assert "line 6: SyntaxError: invalid syntax" in result.output
    assert result.output.endswith("nothing was run\n")


def test_junit_has_it_as_one_error_with_its_line():
    report = unparsed(Submission.of(BROKEN["two signs"], "sdpa.py"), PROBLEM, seed=1)

    assert 'line="6"' in junit.render(report)
