"""`bank new` begins a problem that works, and `verify` says what of it is to be filled in."""

import ast
import re

import pytest
from click.testing import CliRunner

from mha_judge.bank import Bank
from mha_judge.bank.ladder import faults_of as ladder_faults
from mha_judge.bank.mistake import read_mistakes
from mha_judge.bank.scaffold import KINDS, MARK, missing, placeholders
from mha_judge.certify.agreement import compare_all
from mha_judge.certify.equivalents import read_equivalents
from mha_judge.certify.statements import faults_of
from mha_judge.cli import main


def invoke(*args):
    result = CliRunner().invoke(main, [str(arg) for arg in args])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def files_of(bank):
    return sorted(path for path in bank.root.rglob("*") if path.is_file())


@pytest.fixture
def bank(tmp_path):
    for name in ("problems", "graders", "reference"):
        (tmp_path / name).mkdir()
    return Bank.at(tmp_path)


def fill_in(bank):
    for path in files_of(bank):
        path.write_text(path.read_text(encoding="utf-8").replace(MARK, "filled in"))


def test_every_file_is_written_and_listed_with_what_to_do_next(bank):
    result = invoke("--bank", bank.root, "bank", "new", "soft-heads")

    assert result.exit_code == 0
    named = re.findall(r"^wrote (.+)$", result.output, re.MULTILINE)
    assert sorted(named) == [str(path) for path in files_of(bank)]
    assert f"mha-judge verify soft-heads --bank {bank.root} --no-mutants" in result.output
    assert len(named) == 12


def test_the_new_problem_loads(bank):
    invoke("--bank", bank.root, "bank", "new", "soft-heads")

    fresh = Bank.at(bank.root)
    problem = fresh.problem("soft-heads")

    assert problem.entry[0].name == "SoftHeads"
    assert invoke("--bank", bank.root, "list").exit_code == 0
    for path in [*bank.root.rglob("*.py")]:
        assert "SoftHeads" in ast.dump(ast.parse(path.read_text(encoding="utf-8")))
    reference = fresh.reference("soft-heads").read_text(encoding="utf-8")
    mistakes = bank.root / "reference" / "mistakes" / "soft-heads.toml"
    assert len(read_mistakes(mistakes, reference, {})) == 2


def test_changes_that_make_no_difference_are_listed_where_verify_reads_them(bank):
    invoke("--bank", bank.root, "bank", "new", "soft-heads")
    (path,) = (bank.root / "reference" / "mutants").iterdir()

    path.write_text('[[equivalent]]\nchange = "1 → 2"\nreason = "It is not used."\n')

    assert read_equivalents(bank, "soft-heads") == {"1 → 2": "It is not used."}


def test_verify_names_every_placeholder_by_file_and_line_and_grades_nothing(bank):
    invoke("--bank", bank.root, "bank", "new", "soft-heads")

    result = invoke("--bank", bank.root, "verify", "soft-heads", "--no-mutants")

    said = " ".join(result.output.split())
    assert result.exit_code == 1
    assert "problem.toml, line 3: still to be filled in: the title in English" in said
    assert "reference/soft_heads.py, line 11: still to be filled in: equation, shapes" in said
    assert said.count("still to be filled in: ") == sum(
        path.read_text(encoding="utf-8").count(MARK) for path in files_of(bank)
    )
    assert "baselines" not in said  # nothing was graded


@pytest.mark.parametrize(
    "lacking",
    [
        "problems/soft-heads/starter.py",
        "problems/soft-heads/interviewer.md",
        "reference/soft_heads.py",
        "graders/test_soft_heads.py",
    ],
)
def test_verify_names_a_file_that_is_missing(bank, lacking):
    invoke("--bank", bank.root, "bank", "new", "soft-heads")
    fill_in(bank)
    (bank.root / lacking).unlink()

    result = invoke("--bank", bank.root, "verify", "soft-heads", "--no-mutants")

    said = " ".join(result.output.split())
    assert result.exit_code == 1
    assert f"unfinished: {lacking} is missing; write it" in said
    assert "baselines" not in said  # nothing was graded


def test_nothing_is_unfinished_once_all_is_filled_in(bank):
    invoke("--bank", bank.root, "bank", "new", "soft-heads")

    fill_in(bank)

    assert placeholders(bank, "soft-heads") == []
    assert missing(bank, "soft-heads") == []


def test_verify_names_all_that_texts_lack_before_it_grades(bank):
    invoke("--bank", bank.root, "bank", "new", "soft-heads")
    fill_in(bank)
    statement = bank.root / "problems" / "soft-heads" / "statement.md"
    statement.write_text(statement.read_text("utf-8").replace("SoftHeads", "Other"), "utf-8")

    result = invoke("--bank", bank.root, "verify", "soft-heads", "--no-mutants")

    said = " ".join(result.output.split())
    assert result.exit_code == 1
    assert "the statement (en) does not name `SoftHeads`" in said
    assert "problem: `where_zh` is not in Chinese" not in said
    assert "baselines" not in said  # nothing was graded


def test_a_bank_of_ones_own_may_do_with_english(bank):
    invoke("--bank", bank.root, "bank", "new", "soft-heads")
    for path in files_of(bank):
        if path.name.endswith(".zh.md"):
            path.unlink()
        else:
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            path.write_text("".join(line for line in lines if "_zh = " not in line), "utf-8")
    fill_in(bank)

    for words in ("show soft-heads --all", "show soft-heads --interviewer", "list"):
        result = invoke("--bank", bank.root, *words.split(), "--lang", "zh")
        assert result.exit_code == 0
        assert "filled in" in result.output
    assert missing(bank, "soft-heads") == []
    assert faults_of(bank, bank.problem("soft-heads")) == []
    assert ladder_faults(bank, "soft-heads") == []


@pytest.mark.parametrize("problem_id", Bank.builtin().ids)
def test_no_problem_of_the_bank_is_unfinished(problem_id):
    assert placeholders(Bank.builtin(), problem_id) == []
    assert missing(Bank.builtin(), problem_id) == []


@pytest.mark.parametrize(
    ("problem_id", "why"),
    [
        ("Soft-Heads", "is not a valid id"),
        ("soft_heads", "is not a valid id"),
        ("-soft", "is not a valid id"),
        ("soft--heads", "is not a valid id"),
        ("../soft", "is not a valid id"),
        ("soft\n", "is not a valid id"),
        ("a" * 61, "at most 60 characters"),
        ("shared", "is a reserved name"),
        ("lambda", "is a reserved name"),
    ],
)
def test_what_is_no_id_is_refused(bank, problem_id, why):
    result = invoke("--bank", bank.root, "bank", "new", "--", problem_id)

    assert result.exit_code == 2
    assert why in result.stderr
    assert files_of(bank) == []


def test_a_bank_of_ones_own_is_begun_in_a_folder_that_is_not_there(tmp_path):
    folder = tmp_path / "own" / "bank"

    result = invoke("bank", "new", "soft-heads", "--bank", folder)

    assert result.exit_code == 0, result.stderr
    assert Bank.at(folder).ids == ["soft-heads"]


def test_a_folder_of_other_things_is_no_bank(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")

    result = invoke("bank", "new", "soft-heads", "--bank", tmp_path)

    assert result.exit_code != 0
    assert "is not a bank" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_without_a_bank_one_of_ones_own_is_begun(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    result = invoke("bank", "new", "soft-heads")

    assert "mha-judge verify soft-heads --bank my-bank --no-mutants" in result.output
    assert Bank.at(tmp_path / "my-bank").ids == ["soft-heads"]
    assert invoke("show", "soft-heads", "--bank", "my-bank").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--builtin", "--bank", "own"], "name a bank of your own with --bank DIR, or pass"),
        (["--bank", Bank.builtin().root], "is the built-in bank; pass --builtin to change it"),
        (["--like", "sdap"], "no problem 'sdap'; did you mean sdpa"),
        (["--like", "sdpa", "--kind", "module"], "with --like, or a kind with --kind; one of them"),
        (["--bank", "a_file"], "a_file cannot be a bank: Not a directory"),
        (["--bank", "a_file/own"], "cannot be written: Not a directory; nothing was written"),
        (["--kind", "layer"], "'layer' is not one of 'function', 'module', 'object', 'answers'"),
    ],
)
def test_what_does_not_fit_is_refused_and_leaves_nothing(tmp_path, monkeypatch, arguments, why):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a_file").touch()

    result = invoke("bank", "new", "soft-heads", *arguments)

    assert result.exit_code == 2
    assert why in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a_file"]
    assert "soft-heads" not in Bank.builtin().ids


def test_an_installation_is_not_changed(bank, monkeypatch):
    monkeypatch.setattr(Bank, "builtin", lambda: bank)

    result = invoke("bank", "new", "soft-heads", "--builtin")

    assert result.exit_code == 2
    assert "begin a bank of your own with --bank DIR" in result.stderr
    assert files_of(bank) == []


def test_in_a_checkout_a_copy_has_submissions_of_its_own(bank, monkeypatch):
    invoke("bank", "new", "soft-heads", "--bank", bank.root)
    (bank.root / "pyproject.toml").touch()
    answers = bank.root / "tests" / "submissions" / "soft-heads"
    answers.mkdir(parents=True)
    (answers / "right_plain.py").write_text("# problem: soft-heads\nclass SoftHeads: ...\n")
    monkeypatch.setattr(Bank, "builtin", lambda: Bank.at(bank.root))

    result = invoke("bank", "new", "hard-heads", "--builtin", "--like", "soft-heads")

    assert result.exit_code == 0, result.stderr
    copied = answers.with_name("hard-heads") / "right_plain.py"
    assert copied.read_text() == "# problem: hard-heads\nclass HardHeads: ...\n"


def test_a_problem_that_exists_is_refused(bank):
    invoke("--bank", bank.root, "bank", "new", "soft-heads")
    before = {path: path.read_bytes() for path in files_of(bank)}

    result = invoke("--bank", bank.root, "bank", "new", "soft-heads")

    assert result.exit_code == 2
    assert "there is a problem 'soft-heads'" in result.stderr
    assert {path: path.read_bytes() for path in files_of(bank)} == before


def test_one_file_that_is_there_keeps_all_from_being_written(bank):
    mine = bank.root / "graders" / "test_soft_heads.py"
    mine.write_text("mine")

    result = invoke("--bank", bank.root, "bank", "new", "soft-heads")

    assert result.exit_code == 2
    assert "is there already; remove it or choose another id" in result.stderr
    assert files_of(bank) == [mine]
    assert mine.read_text() == "mine"


def test_what_cannot_be_written_whole_is_not_written_in_part(bank):
    (bank.root / "reference" / "mutants").write_text("a file where a folder is wanted")

    result = invoke("--bank", bank.root, "bank", "new", "soft-heads")

    assert result.exit_code == 2
    assert "pass --bank DIR" in result.stderr
    left = sorted(path.relative_to(bank.root).as_posix() for path in bank.root.rglob("*"))
    assert left == ["graders", "problems", "reference", "reference/mutants"]


@pytest.mark.slow
def test_every_skeleton_works_once_it_is_filled_in(bank):
    for kind in KINDS:
        invoke("bank", "new", f"soft-{kind}", "--kind", kind, "--bank", bank.root)
    fill_in(bank)

    result = invoke("verify", "--bank", bank.root, "--no-mutants", "--seed", 1, "--seeds", 1)

    assert result.exit_code == 0, result.output
    kinds = {problem.entry[0].name: problem.entry[0].kind for problem in bank.problems()}
    assert kinds == {
        "soft_function": "function",
        "SoftModule": "module",
        "SoftObject": "object",
        "ANSWERS": "answers",
    }


def give_titles(bank, problem_id):
    """Fill in what is marked in a copy, and return how many places that were."""
    marked = placeholders(bank, problem_id)
    folder = bank.root / "problems" / problem_id
    for path in (folder / "problem.toml", *folder.glob("*.md")):
        text = path.read_text("utf-8")
        path.write_text(re.sub(f"{MARK}: a [a-z_]+ in place of ", "", text), "utf-8")
    return len(marked)


@pytest.mark.parametrize(
    "like", ["sdpa", "gqa", "complexity", "concepts", "kv-cache-step", "flash-attention"]
)
def test_a_copy_lacks_nothing_but_titles(bank, like):
    result = invoke("bank", "new", "soft-heads", "--like", like, "--bank", bank.root)

    assert result.exit_code == 0, result.stderr
    fresh = Bank.at(bank.root)
    assert give_titles(fresh, "soft-heads") == 5
    assert missing(fresh, "soft-heads") == []
    assert faults_of(fresh, fresh.problem("soft-heads")) == []
    assert ladder_faults(fresh, "soft-heads") == []
    assert len(fresh.mistakes("soft-heads")) == len(Bank.builtin().mistakes(like))
    assert compare_all(fresh, "soft-heads")[1] == []


@pytest.mark.slow
@pytest.mark.parametrize("like", ["sdpa", "gqa", "complexity", "kv-cache-step"])
def test_a_copy_grades_with_all_that_its_grader_imports(bank, like):
    invoke("bank", "new", "soft-heads", "--like", like, "--bank", bank.root)
    give_titles(bank, "soft-heads")
    reference = bank.root / "reference" / "soft_heads.py"

    result = invoke("run", reference, "--problem", "soft-heads", "--bank", bank.root)

    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("like", "names"),
    [
        ("flash-attention", ["soft_heads"]),
        ("sliding-window", ["soft_heads_attention"]),
        ("paged-kv-cache", ["SoftHeads"]),
        ("softmax", ["softmax"]),
        ("sdpa", ["scaled_dot_product_attention"]),
        ("some_object", ["SoftHeads"]),
    ],
)
def test_what_is_named_after_the_problem_is_renamed(bank, like, names):
    if like == "some_object":
        invoke("bank", "new", "some-object", "--kind", "object", "--bank", bank.root)

    result = invoke("bank", "new", "soft-heads", "--like", like, "--bank", bank.root)

    assert result.exit_code == 0, result.stderr
    assert [entry.name for entry in Bank.at(bank.root).problem("soft-heads").entry] == names
    reference = (bank.root / "reference" / "soft_heads.py").read_text("utf-8")
    assert all(re.search(rf"^(def|class) {name}\b", reference, re.MULTILINE) for name in names)


def test_a_name_that_means_something_already_is_not_taken(bank):
    invoke("bank", "new", "torch", "--kind", "function", "--bank", bank.root)

    assert Bank.at(bank.root).problem("torch").entry[0].name == "some_function"


def test_the_grader_of_a_copy_imports_the_reference_of_the_copy(bank):
    invoke("bank", "new", "soft-heads", "--like", "complexity", "--bank", bank.root)

    grader = (bank.root / "graders" / "test_soft_heads.py").read_text("utf-8")
    modules = sorted(path.stem for path in (bank.root / "reference").glob("*.py"))
    assert "from reference import soft_heads, kv_cache_step, masked_mha" in grader
    assert "soft_heads.ANSWERS[key]" in grader
    assert "complexity" not in grader
    assert modules == ["kv_cache_step", "masked_mha", "soft_heads"]


def test_what_a_bank_shares_already_stays_as_it_is(bank):
    invoke("bank", "new", "soft-heads", "--like", "mhsa", "--bank", bank.root)
    grader = bank.root / "graders" / "shared" / "self_attention.py"
    words = bank.root / "reference" / "mistakes" / "shared.toml"
    for path in (grader, words):
        path.write_text("# mine\n" + path.read_text("utf-8"), "utf-8")
    before = words.read_text("utf-8")

    result = invoke("bank", "new", "hard-heads", "--like", "gqa", "--bank", bank.root)

    assert result.exit_code == 0, result.stderr
    assert grader.read_text("utf-8").startswith("# mine\n")
    assert words.read_text("utf-8").startswith(before.rstrip())
    assert len(words.read_text("utf-8")) > len(before)
    assert Bank.at(bank.root).mistakes("soft-heads")
