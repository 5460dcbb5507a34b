"""The built-in bank is whole, and a broken one says which file, which key and what to do."""

import ast
import re
import shutil
from pathlib import Path

import pytest

from mha_judge.bank import LANGUAGES, Bank, module_name
from mha_judge.bank.catalogue import MANNERS_BEGIN, manners, page, with_manners, with_questions
from mha_judge.bank.listing import TRACKS, circle, tracks
from mha_judge.bank.questions import as_markdown
from mha_judge.bank.references import load_reference
from mha_judge.errors import BankError, UsageError
from mha_judge.grading.checks.check import spec_of
from mha_judge.grading.checks.claims import CLAIMS
from mha_judge.grading.checks.collected import collect

BUILTIN = Bank.builtin()
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture
def bank(tmp_path):
    for name in ("problems", "graders", "reference"):
        shutil.copytree(BUILTIN.root / name, tmp_path / name)
    return Bank.at(tmp_path)


def toml_of(bank: Bank, problem_id: str) -> Path:
    return bank.root / "problems" / problem_id / "problem.toml"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_the_builtin_bank_has_problems():
    assert {"sdpa", "masked-mha", "gqa"} <= set(BUILTIN.ids)
    assert [problem.id for problem in BUILTIN.problems()] == BUILTIN.ids


def test_nothing_is_listed_before_what_it_requires():
    listed = [line for lines in tracks(BUILTIN).values() for line in lines]
    seen: set[str] = set()

    for line in listed:
        assert seen.issuperset(line.requires), line.id
        seen.add(line.id)
    assert seen == {*BUILTIN.ids}


@pytest.mark.parametrize("problem_id", BUILTIN.ids)
class TestEveryProblem:
    def test_has_a_statement_in_both_languages_with_the_same_code(self, problem_id):
        blocks = [CODE.findall(BUILTIN.statement(problem_id, language)) for language in LANGUAGES]

        assert blocks[0]
        assert [_code_alone(block) for block in blocks[0]] == [_code_alone(b) for b in blocks[1]]

    @pytest.mark.parametrize(("language", "most"), [("en", 350), ("zh", 1_000)])
    def test_is_told_on_one_screen(self, problem_id, language, most):
        """Words in English, characters in Chinese, without code and questions with choices."""
        task = BUILTIN.task(problem_id, language)
        questions = BUILTIN.questions(problem_id)
        choices = as_markdown(questions, language).strip()
        for text in filter(None, (choices, *FENCED.findall(task))):
            task = task.replace(text, "")

        assert len(task.split() if language == "en" else task) <= most
        assert "```python" in BUILTIN.task(problem_id, language)
        assert BUILTIN.fine_print(problem_id, language).startswith(("## Fine print\n", "## 细则\n"))

    def test_has_a_chinese_statement_and_title(self, problem_id):
        texts = (BUILTIN.statement(problem_id, "zh"), BUILTIN.problem(problem_id).title_zh)

        assert all(re.search("[一-鿿]", text) for text in texts)

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_statement_examples_hold_for_the_reference(self, problem_id, language):
        names: dict = {"__name__": "reference"}
        exec(BUILTIN.reference(problem_id).read_text(encoding="utf-8"), names)

        for block in CODE.findall(BUILTIN.statement(problem_id, language)):
            assert "assert" in block
            exec(block, names)

    def test_does_not_grade_what_its_statement_leaves_open(self, problem_id):
        statement = BUILTIN.statement(problem_id, "en")
        left_open = re.findall(r"^\| `(\w+)` \|[^|]*, not graded \|$", statement, re.MULTILINE)

        ungraded = [name for entry in BUILTIN.problem(problem_id).entry for name in entry.ungraded]
        assert ungraded == left_open

    def test_has_as_many_follow_up_questions_in_each_language(self, problem_id):
        texts = [BUILTIN.follow_ups(problem_id, language) for language in LANGUAGES]
        asked = [re.findall(r"^## (.+)$", text, re.MULTILINE) for text in texts]

        assert 3 <= len(asked[0]) == len(asked[1])
        assert all(re.search("[一-鿿]", question) for question in asked[1])
        assert all(len(part.strip()) > 60 for part in texts[0].split("\n## "))

    def test_names_what_to_do_before_and_after_it(self, problem_id):
        problem = BUILTIN.problem(problem_id)

        assert problem.requires or problem.after
        assert {*problem.requires, *problem.after} <= {*BUILTIN.ids} - {problem_id}

    def test_is_on_a_known_track(self, problem_id):
        assert BUILTIN.problem(problem_id).track in TRACKS

    def test_has_a_starter_to_be_filled_in_that_defines_every_entry(self, problem_id):
        starter = BUILTIN.starter(problem_id)
        names = _defined(starter)

        assert "TODO" in starter
        assert f"# problem: {problem_id}" in starter
        assert {entry.name for entry in BUILTIN.problem(problem_id).entry} <= names

    def test_has_a_reference_that_defines_every_entry(self, problem_id):
        names = _defined(BUILTIN.reference(problem_id).read_text(encoding="utf-8"))

        assert {entry.name for entry in BUILTIN.problem(problem_id).entry} <= names

    def test_has_a_hint_for_each_category_that_its_grader_uses(self, problem_id):
        load_reference(BUILTIN, problem_id)
        checks = [spec_of(item.function) for item in collect(str(BUILTIN.grader(problem_id))).items]
        categories = {check.category for check in checks if not check.advisory}

        assert categories
        assert categories <= BUILTIN.problem(problem_id).hints.keys()

    def test_has_no_mistake_under_two_names(self, problem_id):
        sources = [mistake.source for mistake in BUILTIN.mistakes(problem_id)]

        assert [one for one in sources if sources.count(one) > 1] == []


def _code_alone(block: str) -> str:
    """Return the code without its comments, which are translated."""
    return ast.dump(ast.parse(block))


def _defined(source: str) -> set[str]:
    names = set()
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


@pytest.mark.parametrize("problem_id", BUILTIN.ids)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_questions_in_a_statement_are_fresh(problem_id, language):
    text, questions = BUILTIN.statement(problem_id, language), BUILTIN.questions(problem_id)

    assert text == with_questions(text, questions, language), "write it anew: make texts"
    assert all(f"### `{q.id}`" in text for q in questions.values() if q.choices)


@pytest.mark.parametrize("problem_id", BUILTIN.ids)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_statement_says_how_an_answer_may_be_called(problem_id, language):
    text, problem = BUILTIN.statement(problem_id, language), BUILTIN.problem(problem_id)

    assert text == with_manners(text, problem, manners(BUILTIN)[language]), "run: make texts"
    claimed = any(claim.holds_for(problem) for claim in CLAIMS)
    assert (MANNERS_BEGIN in text) is claimed


def test_the_page_of_the_bank_is_fresh():
    written = (BUILTIN.root / "problems" / "README.md").read_text(encoding="utf-8")

    assert written == page(BUILTIN), "write it anew: make texts"


def test_a_bank_elsewhere_serves_its_own_files(bank):
    edit(toml_of(bank, "sdpa"), "Scaled dot-product attention", "My own attention")

    assert bank.problem("sdpa").title == "My own attention"
    assert bank.grader("sdpa").is_relative_to(bank.root)
    assert bank.reference("masked-mha").name == "masked_mha.py"
    assert bank.ids == BUILTIN.ids


@pytest.mark.parametrize("missing", ["problems", "graders", "reference"])
def test_a_folder_that_is_no_bank_is_refused_by_what_it_lacks(bank, missing):
    shutil.rmtree(bank.root / missing)

    with pytest.raises(BankError, match=f"is not a bank: it has no folder {missing}/; "):
        Bank.at(bank.root)


@pytest.mark.parametrize(
    ("old", "new", "key", "remedy"),
    [
        ("level = 2", "levle = 2\nlevel = 2", "levle", "did you mean 'level'"),
        ("minutes = 25", "minuts = 25", "minuts", "did you mean 'minutes'"),
        ('kind = "module"', 'kind = "module"\nagruments = []', "entry.0.agruments",
         "did you mean 'arguments'"),
        ("level = 2", "level = 2\nzzz = 2", "zzz", "remove the key"),
        ("minutes = 25\n", "", "minutes", "add the key"),
        ('name = "MultiHeadAttention"\n', "", "entry.0.name", "add the key"),
        ("level = 2", 'level = "hard"', "level", "correct the value"),
        ("level = 2", "level = 9", "level", "correct the value"),
        ('forbid = ["fused-attention"]', 'forbid = ["fused"]', "forbid.0", "correct the value"),
        ('kind = "module"', 'kind = "modul"', "entry.0.kind", "correct the value"),
        ("level = 2", "level = 2\n[limits]\ncall_s = 0", "limits.call_s", "correct the value"),
        ("level = 2", "level = 2\n[limits]\ngpu = true", "limits.gpu", "remove the key"),
        ("embed_dim = 30", 'embed_dim = "wide"', "entry.0.probe", "correct the value"),
    ],
)  # fmt: skip
def test_a_broken_description_names_file_key_and_remedy(bank, old, new, key, remedy):
    path = toml_of(bank, "masked-mha")
    if new.startswith("level = 2\n[limits]"):  # a table may not stand before the plain keys
        text = path.read_text(encoding="utf-8")
        path.write_text(text + new.removeprefix("level = 2"), encoding="utf-8")
    else:
        edit(path, old, new)

    with pytest.raises(BankError) as raised:
        bank.problem("masked-mha")

    message = str(raised.value)
    assert message.startswith(f"{path}: {key}")
    assert message.endswith(remedy) or f"; {remedy}" in message


@pytest.mark.parametrize(
    ("key", "most"),
    [
        ("call_s", 60),
        ("load_s", 60),
        ("total_s", 180),
        ("cpu_s", 300),
        ("memory_bytes", 8 * 1024**3),
        ("open_files", 512),
        ("threads", 128),
    ],
)
def test_a_problem_cannot_raise_a_limit_until_it_is_none(bank, key, most):
    path = toml_of(bank, "masked-mha")
    text = path.read_text(encoding="utf-8")
    path.write_text(f"{text}\n[limits]\n{key} = {most}\n", encoding="utf-8")
    allowed = getattr(bank.problem("masked-mha").limits, key)
    path.write_text(f"{text}\n[limits]\n{key} = {most + 1}\n", encoding="utf-8")

    with pytest.raises(BankError) as raised:
        bank.problem("masked-mha")

    assert allowed == most
    assert str(raised.value) == (
        f"{path}: limits.{key}: Input should be less than or equal to {most}; correct the value"
    )


@pytest.mark.parametrize(
    ("old", "new", "near"),
    [
        ('reference = "q_proj"', 'reference = "q_proj"\nsplitt = "out"', "split"),
        ("[entry.probe]", "[entry.probe]\ninput = []", "inputs"),
        ("[hints]", "[limits]\ncal_s = 3\n[hints]", "call_s"),
    ],
)
def test_a_typo_in_an_inner_table_suggests_a_key_of_that_table(bank, old, new, near):
    edit(toml_of(bank, "masked-mha"), old, new)

    with pytest.raises(BankError, match=f"did you mean '{near}'"):
        bank.problem("masked-mha")


@pytest.mark.parametrize("text", ["id = ", 'id = "a"\nid = "b"', "= 3", 'id = "\\x00"'])
def test_invalid_toml_names_the_file(bank, text):
    path = toml_of(bank, "sdpa")
    path.write_text(text, encoding="utf-8")

    with pytest.raises(BankError, match=r"not valid TOML: .*; correct the file") as raised:
        bank.problem("sdpa")

    assert str(raised.value).startswith(f"{path}: ")


def test_toml_that_is_not_utf_8_names_the_file(bank):
    toml_of(bank, "sdpa").write_bytes(b'id = "\xff"')

    with pytest.raises(BankError, match="not valid TOML"):
        bank.problem("sdpa")


def test_an_id_that_is_not_the_name_of_the_folder_is_refused(bank):
    edit(toml_of(bank, "sdpa"), 'id = "sdpa"', 'id = "other"')

    with pytest.raises(BankError, match=r"id: is 'other'; it must be the folder's name, 'sdpa'"):
        bank.problem("sdpa")


def test_a_module_without_roles_is_refused(bank):
    edit(toml_of(bank, "sdpa"), 'kind = "function"', 'kind = "module"')

    with pytest.raises(BankError, match="needs roles and a probe"):
        bank.problem("sdpa")


def test_the_result_that_must_be_there_is_graded(bank):
    edit(toml_of(bank, "sdpa"), "returns =", 'ungraded = ["output"]\nreturns =')

    with pytest.raises(BankError, match="'output' is no result that may be left out"):
        bank.problem("sdpa")


def test_a_language_model_is_an_argument_of_a_function(bank):
    edit(toml_of(bank, "sdpa"), "returns =", 'language_models = ["model"]\nreturns =')

    with pytest.raises(BankError, match="'model' is no argument of a torch function"):
        bank.problem("sdpa")


@pytest.mark.parametrize(
    ("unknown", "near"),
    [("spda", "sdpa"), ("masked_mha", "masked-mha"), ("kv-cache", "kv-cache-step")],
)
def test_an_unknown_id_suggests_the_near_ones(unknown, near):
    with pytest.raises(UsageError, match=f"no problem '{unknown}'; did you mean .*{near}"):
        BUILTIN.problem(unknown)


def test_an_id_near_to_nothing_lists_all():
    with pytest.raises(UsageError) as raised:
        BUILTIN.problem("zzzzzz")

    assert all(problem_id in str(raised.value) for problem_id in BUILTIN.ids)


@pytest.mark.parametrize("path", ["../sdpa", ".", "", "sdpa/"])
def test_an_id_cannot_lead_out_of_the_bank(path):
    with pytest.raises(UsageError, match="no problem"):
        BUILTIN.problem(path)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("problems/sdpa/statement.md", lambda bank: bank.statement("sdpa", "en")),
        ("problems/sdpa/starter.py", lambda bank: bank.starter("sdpa")),
        ("graders/test_sdpa.py", lambda bank: bank.grader("sdpa")),
        ("reference/sdpa.py", lambda bank: bank.reference("sdpa")),
    ],
)
def test_a_file_that_is_missing_is_named(bank, name, read):
    (bank.root / name).unlink()

    with pytest.raises(BankError, match=rf"{re.escape(name)} is missing"):
        read(bank)


def test_a_folder_without_a_description_is_no_problem(bank):
    (bank.root / "problems" / "notes").mkdir()

    assert "notes" not in Bank.at(bank.root).ids


def test_the_module_of_an_id_has_underscores():
    assert module_name("kv-cache-step") == "kv_cache_step"


def test_a_circle_of_requirements_is_found(tmp_path):
    assert circle(BUILTIN) == []
    for folder in ("graders", "reference"):
        (tmp_path / folder).mkdir()
    for name, needed in {"sdpa": "mhsa", "mhsa": "gqa", "gqa": "sdpa", "softmax": "sdpa"}.items():
        text = (BUILTIN.root / "problems" / name / "problem.toml").read_text(encoding="utf-8")
        text = re.sub(r"^requires = .*\n", "", text, flags=re.MULTILINE)
        (tmp_path / "problems" / name).mkdir(parents=True)
        (tmp_path / "problems" / name / "problem.toml").write_text(
            text.replace("level =", f'requires = ["{needed}"]\nlevel =', 1), encoding="utf-8"
        )

    found = circle(Bank.at(tmp_path))

    assert found[0] == found[-1]
    assert set(found) == {"sdpa", "mhsa", "gqa"}


def test_every_title_of_a_check_has_its_chinese_and_no_other_does():
    written = {claim.title for claim in CLAIMS}
    for path in (BUILTIN.root / "graders").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = node.func.id if isinstance(getattr(node, "func", None), ast.Name) else ""
            place = {"check": 0, "restated": 1}.get(name)
            if place is not None and len(node.args) > place:
                written.add(ast.literal_eval(node.args[place]))

    titles = BUILTIN.titles("zh")

    assert titles.keys() == written
    assert [
        title for title, told in titles.items() if not re.search(r"[\u4e00-\u9fff]", told)
    ] == []
    assert BUILTIN.titles("en") == {}
