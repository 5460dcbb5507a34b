"""Scales and shifts of normalisations are told apart by name, by what they start as, by order."""

import pytest

from mha_judge.grading.binding.norms import scales_and_shifts
from mha_judge.grading.calling.replies import ParameterInfo


def vectors(*told):
    """Return vectors from `path` or `path=start`."""
    pairs = [one.partition("=") for one in told]
    return [
        ParameterInfo(path=path, shape=[6], owner="", start=start or None)
        for path, _, start in pairs
    ]


def found(*told, wanted=1):
    pairs = scales_and_shifts(vectors(*told), wanted)
    return [(scale.path, shift.path if shift else None) for scale, shift in pairs]


@pytest.mark.parametrize(
    "name", "beta bias shift offset b b_2 add β Β 𝛽 平移 偏置 beta1 add_bias".split()
)
def test_a_name_that_says_shift_says_so_against_order_and_start(name):
    assert found(f"n.{name}=ones", "n.other") == [("n.other", f"n.{name}")]


@pytest.mark.parametrize("name", "gamma weight scale gain g a_2 w γ Γ 缩放 权重 mul".split())
def test_a_name_that_says_scale_says_so_against_the_start(name):
    assert found("n.p1=zeros", f"n.{name}=zeros") == [(f"n.{name}", "n.p1")]


def test_names_that_say_nothing_leave_it_to_the_start():
    assert found("n.p1=zeros", "n.p2=ones") == [("n.p2", "n.p1")]


def test_of_several_words_in_one_name_the_last_counts():
    names = ["add_norm_gamma", "add_norm_beta", "post_bias_scale", "post_bias_shift"]

    assert found(*names) == [tuple(names[:2]), tuple(names[2:])]


@pytest.mark.parametrize("names", ["weights_0 weights_1", "w0 w1", "a b", "b a", "β1 β2"])
def test_the_start_decides_where_names_say_the_same_or_are_letters(names):
    one, other = names.split()

    assert found(f"n.{one}=zeros", f"n.{other}=ones") == [(f"n.{other}", f"n.{one}")]


def test_scales_beside_shifts_may_start_as_either():
    names = ["gamma1=ones", "beta1=zeros", "gamma2=zeros", "beta2=zeros"]

    assert found(*names, wanted=2) == [("gamma1", "beta1"), ("gamma2", "beta2")]


def test_what_starts_as_neither_goes_by_order():
    assert found("n.p1", "n.p2") == [("n.p1", "n.p2")]
    assert found("p1", "p2", "p3", "p4", wanted=2) == [("p1", "p2"), ("p3", "p4")]


def test_a_norm_may_have_no_shift():
    assert found("a.gamma", "b.gamma") == [("a.gamma", None), ("b.gamma", None)]


def test_where_norms_would_be_too_few_in_turns_none_has_a_shift():
    assert found("p1", "p2", wanted=2) == [("p1", None), ("p2", None)]
    assert found("p1=ones", "p2", wanted=2) == [("p1", None), ("p2", None)]


def test_scales_and_shifts_may_be_defined_in_blocks():
    assert found("s1=ones", "s2=ones", "t1=zeros", "t2=zeros", wanted=2) == [
        ("s1", "t1"),
        ("s2", "t2"),
    ]


def test_biases_of_other_maps_are_no_shifts():
    assert found("c1=zeros", "c2", "s1=ones", "t1=zeros", "c3=zeros", "s2=ones", "t2=zeros") == [
        ("s1", "t1"),
        ("s2", "t2"),
    ]
