"""Whose answer to which problem a file is."""

import pytest

from mha_judge.errors import UsageError
from mha_judge.scoring.answers import discover


@pytest.fixture
def put(tmp_path):
    def write(place, text="x = 1\n"):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def found(bank, *paths, default=None):
    return [(a.candidate, a.problem, a.path.name) for a in discover(paths, bank, default).answers]


def test_a_folder_in_a_path_is_a_candidates(bank, put, tmp_path):
    put("all/alice/sdpa.py")
    put("all/alice/masked_mha.py")
    put("all/bob/any.py", "# problem: gqa\n")

    assert found(bank, tmp_path / "all") == [
        ("alice", "masked-mha", "masked_mha.py"),
        ("alice", "sdpa", "sdpa.py"),
        ("bob", "gqa", "any.py"),
    ]


def test_flat_files_with_a_problem_line_are_candidates_of_their_own(bank, put, tmp_path):
    put("all/alice.py", "# problem: sdpa\n")
    put("all/bob.py", "# problem: sdpa\n")

    assert found(bank, tmp_path / "all") == [
        ("alice", "sdpa", "alice.py"),
        ("bob", "sdpa", "bob.py"),
    ]


def test_a_path_with_a_file_named_after_a_problem_is_one_candidates(bank, put, tmp_path):
    put("alice/sdpa.py")
    put("alice/second.py", "# problem: gqa\n")

    assert found(bank, tmp_path / "alice") == [
        ("alice", "gqa", "second.py"),
        ("alice", "sdpa", "sdpa.py"),
    ]


def test_files_can_be_named_one_by_one_and_twice(bank, put):
    one, other = put("alice/sdpa.py"), put("all/bob.py", "# problem: gqa\n")

    assert found(bank, one, other, one) == [("alice", "sdpa", "sdpa.py"), ("bob", "gqa", "bob.py")]


def test_files_that_say_no_problem_have_the_default_or_are_left_out(bank, put, tmp_path):
    put("all/alice.py", "# problem: sdpa\n")
    put("all/bob.py", "class MultiHeadAttention:\n    pass\n")
    put("all/carol_sdpa.py")
    put("all/dave.py", "# problem: attention\n")
    put("all/notes.py")

    without = discover([tmp_path / "all"], bank)

    assert [one.candidate for one in without.left_out] == ["bob", "dave", None]
    assert "say which with `# problem: ID` or --problem" in without.left_out[0].reason
    assert "no problem 'attention'" in without.left_out[1].reason
    assert without.left_out[2].reason == "defines nothing that a problem asks for"
    assert without.candidates == ["alice", "bob", "carol_sdpa", "dave"]
    with pytest.raises(UsageError, match=r"(?s)no answer found.*bob\.py: may.*notes\.py: defines"):
        discover([tmp_path / "all" / "bob.py", tmp_path / "all" / "notes.py"], bank)
    assert ("carol_sdpa", "sdpa", "carol_sdpa.py") in found(bank, tmp_path / "all")
    assert ("bob", "gqa", "bob.py") in found(bank, tmp_path / "all", default="gqa")


def test_hidden_files_and_other_files_are_passed_over(bank, put, tmp_path):
    put("all/alice/sdpa.py")
    put("all/alice/notes.txt")
    put("all/alice/.sdpa.py")
    put("all/__pycache__/sdpa.py")

    assert len(found(bank, tmp_path / "all")) == 1


def test_what_cannot_be_read_is_an_answer_with_the_reason(bank, put, tmp_path):
    put("all/alice/sdpa.py", b"\xff\xfe")
    (tmp_path / "all" / "bob").mkdir()
    (tmp_path / "all" / "bob" / "sdpa.py").symlink_to(bank.reference("sdpa"))

    answers = discover([tmp_path / "all"], bank).answers

    assert [answer.submission for answer in answers] == [None, None]
    assert "not UTF-8" in answers[0].unreadable
    assert "symbolic link" in answers[1].unreadable


def test_a_link_to_a_folder_is_left_out(bank, put, tmp_path):
    put("all/alice/sdpa.py")
    (tmp_path / "all" / "bob").symlink_to(bank.root / "reference")

    result = discover([tmp_path / "all"], bank)

    assert [answer.candidate for answer in result.answers] == ["alice"]
    assert "symbolic link" in result.left_out[0].reason


def test_two_answers_of_one_candidate_are_an_error_of_his(bank, put, tmp_path):
    put("all/alice/sdpa.py")
    put("all/alice/sdpa2.py", "# problem: sdpa\n")

    (answer,) = discover([tmp_path / "all"], bank).answers

    assert answer.submission is None
    assert "hand in one" in answer.unreadable


def test_two_candidates_of_one_name_are_refused(bank, put, tmp_path):
    put("monday/alice/sdpa.py")
    put("tuesday/alice/sdpa.py")

    with pytest.raises(UsageError, match="give them different names"):
        discover([tmp_path / "monday", tmp_path / "tuesday"], bank)


@pytest.mark.parametrize("place", ["nowhere", "empty"])
def test_no_answer_is_a_usage_error(bank, tmp_path, place):
    (tmp_path / "empty").mkdir()

    with pytest.raises(UsageError, match=r"check the path|no answer"):
        discover([tmp_path / place], bank)
