"""A table of logits serves as a language model, and its calls come back before the results."""

import pytest
import torch

from mha_judge.wire.language_models import with_language_models

TABLE = torch.arange(24.0).reshape(2, 3, 4)


def asked(prefixes, table=TABLE):
    return with_language_models(lambda score: score(prefixes), ["0"])(table)[1]


def test_logits_depend_on_the_last_tokens_each_modulo_its_axis():
    logits = asked(torch.tensor([[3, 3, 0, 1], [0, 0, 3, 3]]))

    assert torch.equal(logits, torch.stack([TABLE[0, 1], TABLE[1, 0]]))


def test_zeros_stand_before_the_first_token():
    assert torch.equal(asked(torch.tensor([[2]])), TABLE[0, 2].unsqueeze(0))


def test_a_row_alone_is_a_model_that_looks_at_nothing():
    assert torch.equal(asked(torch.tensor([[2], [1]]), TABLE[0, 1]), TABLE[0, 1].expand(2, 4))


@pytest.mark.parametrize("table", [TABLE, TABLE[0, 1]])
def test_logits_are_the_answers_own_and_have_no_gradients(table):
    table = table.clone().requires_grad_()
    before = table.detach().clone()

    logits = asked(torch.tensor([[1, 2]]), table)

    assert not logits.requires_grad
    logits.zero_()
    assert torch.equal(table.detach(), before)


def test_the_sizes_of_all_calls_come_before_the_results():
    def search(prefix, score):
        score(prefix.repeat(3, 1))
        score(prefix.repeat(2, 2))
        return prefix, 7

    given = {"prefix": torch.tensor([[1, 2]]), "score": TABLE}
    calls, _, seven = with_language_models(search, ["score"])(**given)

    assert seven == 7
    assert calls.tolist() == [[3, 2], [2, 4]]


@pytest.mark.parametrize(
    ("prefixes", "told"),
    [
        ([[1, 2]], "not list"),
        (torch.tensor([1, 2]), "token ids (N, T)"),
        (torch.zeros(0, 2, dtype=torch.int64), "token ids (N, T)"),
        (torch.ones(1, 2), "int64, not torch.float32"),
        (torch.tensor([[1, 4]]), "from 0 to 3"),
        (torch.tensor([[-1]]), "from 0 to 3"),
    ],
)
def test_what_is_no_batch_of_token_ids_is_refused_with_words(prefixes, told):
    with pytest.raises(ValueError) as raised:
        asked(prefixes)

    assert told in str(raised.value)
