"""The contract's arguments reach the candidate's parameters, whatever these are called."""

import math

import pytest

from mha_judge.bank import Bank
from mha_judge.grading.binding.arguments import DoesNotFit, bind, extras_for
from mha_judge.grading.binding.described import Parameter

WORDS = Bank.builtin().vocabulary()


def signature(text: str) -> list[Parameter]:
    """Read parameters as one writes them: `q, k=, *, mask=, *args, **kwargs`."""
    found, kind = [], "positional_or_keyword"
    for word in text.replace(" ", "").split(","):
        if word == "*":
            kind = "keyword_only"
        elif word.startswith("**"):
            found.append(Parameter(name=word[2:], kind="var_keyword", required=False))
        elif word.startswith("*"):
            found.append(Parameter(name=word[1:], kind="var_positional", required=False))
            kind = "keyword_only"
        elif word:
            found.append(
                Parameter(name=word.rstrip("="), kind=kind, required=not word.endswith("="))
            )
    return found


QKV = {"q": "Q", "k": "K", "v": "V"}
SIZES = {"embed_dim": 6, "num_heads": 2}


@pytest.mark.parametrize(
    ("text", "values", "args", "kwargs"),
    [
        ("q, k, v, mask=", {**QKV, "mask": "M"}, ["Q", "K", "V", "M"], {}),
        ("q, k, v, mask=", {**QKV, "mask": None}, ["Q", "K", "V"], {}),
        ("q, k, v, mask", {**QKV, "mask": None}, ["Q", "K", "V", None], {}),
        ("query, key, value, attn_mask=", {**QKV, "mask": "M"}, ["Q", "K", "V", "M"], {}),
        ("values, keys, query, mask", {**QKV, "mask": "M"}, ["V", "K", "Q", "M"], {}),
        ("v, k, q", QKV, ["V", "K", "Q"], {}),
        ("Q, K, V", QKV, ["Q", "K", "V"], {}),
        ("a, b, c, d=", {**QKV, "mask": "M"}, ["Q", "K", "V", "M"], {}),
        ("a, b, c, d", {**QKV, "mask": None}, ["Q", "K", "V", None], {}),
        ("a, *rest", QKV, ["Q", "K", "V"], {}),
        ("*args", QKV, ["Q", "K", "V"], {}),
        ("q, k, v, *, mask=", {**QKV, "mask": "M"}, ["Q", "K", "V"], {"mask": "M"}),
        ("q, k, v, scale=, mask=", {**QKV, "mask": "M"}, ["Q", "K", "V"], {"mask": "M"}),
        ("q, k, v, mask=, **kwargs", QKV, ["Q", "K", "V"], {}),
        ("d_model, n_heads", SIZES, [6, 2], {}),
        ("heads, d_model", SIZES, [2, 6], {}),
        ("h, d_model, dropout=", SIZES, [2, 6], {}),
        ("hidden_size, num_attention_heads, bias=", SIZES, [6, 2], {}),
        ("hidden_states, past_key_value=", {"x": "X", "cache": "C"}, ["X", "C"], {}),
        ("x, kv_cache=", {"x": "X", "cache": None}, ["X"], {}),
        ("dim, n_heads, n_kv_heads", {**SIZES, "num_kv_heads": 1}, [6, 2, 1], {}),
        ("B, n, d, h", {"B": 1, "n": 2, "d": 3, "h": 4}, [1, 2, 3, 4], {}),
        ("t, h", {"x": "X", "num_heads": 2}, ["X", 2], {}),
        ("h, n", {"x": "X", "num_heads": 2}, ["X", 2], {}),
        ("h, x", {"x": "X", "num_heads": 2}, [2, "X"], {}),
        ("x, h", {"x": "X", "num_heads": 2}, ["X", 2], {}),
        ("h, d, n, B", {"B": 1, "n": 2, "d": 3, "h": 4}, [4, 3, 2, 1], {}),
    ],
)
def test_arguments_arrive_where_the_parameters_mean_them(text, values, args, kwargs):
    assert bind("`f`", signature(text), values, {}, WORDS) == (args, kwargs)


@pytest.mark.parametrize(
    ("text", "extra", "passed"),
    [
        ("d_model, num_heads, dropout", "dropout", 0.0),
        ("d_model, num_heads, d_k", "head_dim", 3),
        ("d_model, num_heads, d_out", "out_dim", 6),
        ("d_model, num_heads, max_len", "length", 4096),
        ("d_model, num_heads, qkv_bias", "bias", True),
        ("d_model, num_heads, device", "nothing", None),
        ("d_model, num_heads, temperature", "temperature", math.sqrt(3)),
    ],
)
def test_a_required_parameter_outside_the_contract_gets_a_sensible_value(text, extra, passed):
    extras = extras_for(SIZES)

    assert bind("`f`", signature(text), SIZES, extras, WORDS) == ([6, 2, passed], {})
    assert extras[extra] == passed


def test_dropout_before_the_heads_does_not_shift_the_sizes():
    assert bind("`f`", signature("a, dropout, b"), SIZES, extras_for(SIZES), WORDS) == (
        [6, 0.0, 2],
        {},
    )


def test_an_unknown_signature_gets_the_arguments_by_position_without_trailing_nones():
    assert bind("`f`", None, {**QKV, "mask": None}, {}, WORDS) == (["Q", "K", "V"], {})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("q, k", "no parameter is left for `v`"),
        ("", "no parameters.*no parameter is left for `q`, `k`, `v`"),
        ("q, k, v, m, banana", "has nothing to pass for `banana`"),
        ("q, k, v, *, banana", "has nothing to pass for `banana`"),
        ("q, k, v, head_dim", "has nothing to pass for `head_dim`"),
    ],
)
def test_parameters_that_cannot_take_the_arguments_are_listed_beside_them(text, why):
    with pytest.raises(DoesNotFit, match=why) as raised:
        bind("`attention`", signature(text), {**QKV, "mask": None}, {}, WORDS)

    message = str(raised.value)
    assert message.startswith("`attention` takes (")
    assert "the contract" in message


def test_each_argument_is_passed_once_where_two_parameters_could_mean_it():
    args, kwargs = bind("`f`", signature("x, inputs="), {"x": "X"}, {}, WORDS)

    assert (args, kwargs) == (["X"], {})


def test_without_sizes_nothing_is_made_up():
    assert {"head_dim", "out_dim", "temperature"}.isdisjoint(extras_for({}))
