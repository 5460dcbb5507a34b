"""The words of a bank: read, asked, extended by a bank of one's own, refused where broken."""

import pytest

from mha_judge.bank import Bank
from mha_judge.bank.vocabulary import Group, Vocabulary, read_vocabulary
from mha_judge.errors import BankError

WORDS = Bank.builtin().vocabulary()


@pytest.mark.parametrize("name", ["embed_dim", "dModel", "D_MODEL", "hidden_size"])
def test_a_name_means_an_argument_in_any_spelling(name):
    assert WORDS.means(name, "embed_dim")
    assert not WORDS.means(name, "num_heads")


def test_a_letter_that_no_file_lists_is_only_itself():
    assert WORDS.means("n", "n")
    assert not WORDS.means("N", "n")


def test_what_is_passed_for_a_parameter_outside_the_contract():
    found = {name: WORDS.extra(name) for name in ("d_k", "n_head", "dropout_p", "speed")}

    assert found == {"d_k": "head_dim", "n_head": "heads", "dropout_p": "dropout", "speed": None}


def test_a_bank_of_ones_own_adds_its_words(tmp_path):
    for name in ("problems", "graders", "reference"):
        (tmp_path / name).mkdir()
    (tmp_path / "problems" / "vocabulary.toml").write_text(
        '[arguments]\nembed_dim = "breite"\n[roles]\nrouter = "gate"\n'
    )

    words = Bank.at(tmp_path).vocabulary()

    assert words.means("Breite", "embed_dim") and words.means("d_model", "embed_dim")
    assert words.role_in(["wgate"]) == "router"
    assert words.role_in(["wquery"]) == "q"


def test_a_bank_without_words_of_its_own_has_the_built_in_ones(tmp_path):
    for name in ("problems", "graders", "reference"):
        (tmp_path / name).mkdir()

    assert Bank.at(tmp_path).vocabulary() == WORDS


@pytest.mark.parametrize(
    ("path", "groups"),
    [("self_attn", {"self"}), ("attn_2", {"cross"}), ("attn12", set()), ("unmasked", set())],
)
def test_groups_are_told_by_the_beginnings_of_words_and_by_numbers(path, groups):
    found = {name for name in ("self", "cross") if WORDS.group_pattern(name).search(path)}

    assert found == groups


def test_a_group_without_words_is_never_spoken_of():
    assert not Vocabulary(groups={"g": Group()}).group_pattern("g").search("anything")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[arguments", "not valid TOML"),
        ("[argument]\nx = 'y'", "argument: Extra inputs are not permitted"),
        ("[arguments]\nx = 'a|b'", "arguments.x: .*; write words of letters, digits and _"),
        ("[roles]\nq = 3", "roles.q: "),
    ],
)
def test_a_file_that_is_broken_is_refused_with_the_place(tmp_path, text, told):
    path = tmp_path / "vocabulary.toml"
    path.write_text(text)

    with pytest.raises(BankError, match=told):
        read_vocabulary(path)
