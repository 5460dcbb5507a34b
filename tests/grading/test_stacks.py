"""A parameter that holds several maps is bound as a list of them would be."""

import pytest
import torch

from mha_judge.bank import Bank
from mha_judge.grading.binding.weights import RoleWeights, Unbound, arrangements
from mha_judge.grading.calling.replies import ParameterInfo

WORDS = Bank.builtin().vocabulary()

E, H, F = 6, 2, 11
D = E // H
GENERATOR = torch.Generator().manual_seed(3)


def role(name, out=E, in_=E, **options):
    weight = torch.randn(out, in_, generator=GENERATOR)
    return RoleWeights(name, weight, torch.randn(out, generator=GENERATOR), **options)


ROLES = [*(role(name, heads=H) for name in "qkv"), role("out", heads=H, split="in")]
BY_NAME = {role.name: role for role in ROLES}
INPUTS = torch.stack([BY_NAME[name].weight for name in "qkv"])  # (3, E, E): (out, in) each
ALL = torch.stack([role.weight for role in ROLES])  # (4, E, E)
BIASES = torch.stack([role.bias for role in ROLES])  # (4, E)


def of(path, *shape, owner=""):
    return ParameterInfo(path=path, shape=list(shape), owner=owner)


def found(*parameters, roles=ROLES):
    return list(arrangements(parameters, roles, WORDS))


def holds(arrangement, **values):
    return arrangement.values.keys() == values.keys() and all(
        torch.equal(arrangement.values[path], value) for path, value in values.items()
    )


@pytest.mark.parametrize("path", ["W", "weights", "x7", "权重", "attn", "proj"])
def test_four_maps_in_one_are_used_as_x_times_w_first_and_transposed_too(path):
    first, *others = found(of(path, 4, E, E))

    assert holds(first, **{path: ALL.mT})
    assert any(holds(one, **{path: ALL}) for one in others)
    assert first.unbound == ()


@pytest.mark.parametrize("path", ["W", "W_qkv", "in_proj_weight", "stacked"])
def test_three_maps_in_one_go_beside_an_output_map_defined_before_them(path):
    first = found(of("out.weight", E, E, owner="Linear"), of(path, 3, E, E))[0]

    assert holds(first, **{"out.weight": BY_NAME["out"].weight, path: INPUTS.mT})


def test_three_maps_with_an_axis_for_the_heads():
    first = found(of("W", 3, H, E, D), of("W_o", H, D, E))[0]

    assert torch.equal(first.values["W"], INPUTS.reshape(3, H, D, E).mT)


def test_keys_and_values_in_one_beside_a_map_of_the_queries():
    first = found(of("W_o", E, E), of("W_kv", 2, E, E), of("W_q", E, E))[0]

    assert torch.equal(first.values["W_kv"], INPUTS[1:].mT)
    assert torch.equal(first.values["W_q"], INPUTS[0].T)


@pytest.mark.parametrize("shape", [(4, E), (4, 1, E), (4, H, D), (4 * E,)], ids=str)
@pytest.mark.parametrize("path", ["b", "bias", "β", "p2"])
def test_biases_are_stacked_as_their_maps(path, shape):
    first = found(of("W", 4, E, E), of(path, *shape))[0]

    assert holds(first, W=ALL.mT, **{path: BIASES.reshape(shape)})
    assert first.biased == {"q", "k", "v", "out"}


def test_another_order_of_the_stack_is_tried():
    turned = ALL[[2, 1, 0, 3]].mT

    assert any(torch.equal(one.values["W"], turned) for one in found(of("W", 4, E, E)))


def test_two_stacks_of_a_decoder_are_taken_in_order():
    two = [
        role(name, heads=H, split="in" if name == "out" else "out", group=group)
        for group in ("self", "cross")
        for name in ("q", "k", "v", "out")
    ]

    first = found(of("one", 4, E, E), of("two", 4, E, E), roles=two)[0]

    assert torch.equal(first.values["two"], torch.stack([one.weight for one in two[4:]]).mT)
    nested = found(of("both", 2, 4, E, E), roles=two)[0]
    assert torch.equal(nested.values["both"].flatten(0, 1)[:4], first.values["one"])


@pytest.mark.parametrize(
    "parameter",
    [
        of("W", 5, E, E),
        of("W", 4, E, E + 1),
        of("W", 4, E, E, owner="Conv1d"),
        of("W", *[2**31] + [0] * 3),
        of("W", *[4] * 8),
    ],
    ids=["five", "too wide", "a convolution", "empty", "eight axes"],
)
def test_what_holds_no_maps_stays_whole(parameter):
    with pytest.raises(Unbound):
        found(parameter)


def test_a_map_of_as_many_heads_is_no_stack():
    three = [role(name, heads=3) for name in "qkv"] + [role("out", heads=3, split="in")]
    parameters = [of(f"W_{name}", 3, E, 2) for name in "qkv"]

    first = found(*parameters, of("W_o", 3, 2, E), roles=three)[0]

    heads = three[0].weight.reshape(3, 2, E).mT
    assert torch.equal(first.values["W_q"], heads)
