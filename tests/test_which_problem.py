"""Which problem a file answers: by its header, its name, or what it defines."""

import pytest

from mha_judge.bank import Bank
from mha_judge.bank.which_problem import ProblemUnknown, problem_of
from mha_judge.errors import UsageError
from mha_judge.submission import Submission

BANK = Bank.builtin()


def asked(source, name):
    return problem_of(Submission.of(source, name), BANK)


@pytest.mark.parametrize(
    ("source", "name", "expected"),
    [
        ("# problem: gqa\n", "sdpa.py", "gqa"),
        ("import torch\n\n#problem:   masked-mha  \n", "x.py", "masked-mha"),
        ("# problem: Masked_MHA\n", "x.py", "masked-mha"),
        ("# problem: gqa\r\n", "x.py", "gqa"),
        ("# problem: gqa\n# problem: sdpa\n", "x.py", "gqa"),
        ("x = 1\n", "kv_cache_step.py", "kv-cache-step"),
        ("x = 1\n", "SDPA.py", "sdpa"),
        ("    # problem: gqa\n", "sdpa.py", "sdpa"),
        ("# problem: two words\n", "sdpa.py", "sdpa"),
        ("x = '# problem: gqa'\n", "sdpa.py", "sdpa"),
        ("x = 1\n", "candidate_sdpa.py", "sdpa"),
        ("x = 1\n", "sdpa_numpy_alice.py", "sdpa-numpy"),
        ("x = 1\n", "Alice Doe.gqa.py", "gqa"),
    ],
)
def test_the_header_counts_most_and_then_the_name(source, name, expected):
    assert asked(source, name) == expected


@pytest.mark.parametrize(
    ("source", "name", "expected"),
    [
        ("def flash_attention(q, k, v, block_size):\n    pass\n", "bob.py", "flash-attention"),
        ("class GroupedQueryAttention:\n    pass\n", "bob.py", "gqa"),
        ("class groupedqueryattention(\n", "bob.py", "gqa"),
        # what it defines says which of the names in a file's name is meant
        ("def flash_attention(q, k, v, block_size):\n    pass\n", "online_softmax.py",
         "flash-attention"),
    ],
)  # fmt: skip
def test_what_a_file_defines_says_it_too(source, name, expected):
    assert asked(source, name) == expected


def test_a_file_that_says_nothing_is_told_what_to_write():
    with pytest.raises(ProblemUnknown, match="Write a line `# problem: ID` into it, or") as caught:
        asked("x = 1\n", "notes.py")

    assert caught.value.possible == []


def test_of_several_problems_none_is_guessed():
    with pytest.raises(ProblemUnknown, match="it may answer ") as caught:
        asked("class MultiHeadAttention:\n    pass\n", "bob.py")

    assert len(caught.value.possible) > 1


def test_a_header_of_no_problem_is_not_passed_over():
    with pytest.raises(UsageError, match=r"^`# problem: spda`: no problem .*mean sdpa"):
        asked("# problem: spda\n", "sdpa.py")


def test_an_error_that_hides_what_a_file_defines_is_told():
    broken = Submission.of("def attend(q):\n    return (q\n", "answer.py")

    with pytest.raises(ProblemUnknown) as told:
        problem_of(broken, BANK, or_else="ask me")

    assert str(told.value) == (
        "answer.py: line 2: '(' was never closed; mend this first. Which problem is this? Write a "
        "line `# problem: ID` into it, or ask me; what it defines cannot be read"
    )
