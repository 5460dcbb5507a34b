"""Paths to one array are one parameter, unless names or the number of roles say otherwise."""

import pytest
import torch

from mha_judge.bank import Bank
from mha_judge.grading.binding.weights import RoleWeights, arrangements
from mha_judge.grading.calling.replies import ParameterInfo

WORDS = Bank.builtin().vocabulary()

E = 6
GENERATOR = torch.Generator().manual_seed(3)
ROLES = [
    RoleWeights(
        name,
        torch.randn(E, E, generator=GENERATOR),
        torch.randn(E, generator=GENERATOR),
        split="in" if name == "out" else "out",
    )
    for name in ("q", "k", "v", "out")
]
WEIGHTS = [role.weight.T for role in ROLES]


def of(path, number, *shape):
    return ParameterInfo(path=path, shape=list(shape or (E, E)), owner="", number=number)


def first(*parameters, wanted=()):
    return next(iter(arrangements(parameters, ROLES, WORDS, wanted)))


@pytest.mark.parametrize("names", ["W_q W_k W_v W_o", "a b c d", "W.0 W.1 W.2 W.3", "甲 乙 丙 丁"])
@pytest.mark.parametrize("numbers", [(0, 0, 0, 0), (0, 0, 1, 2), (0, 1, 1, 1)], ids=str)
def test_maps_that_start_as_one_array_are_maps_of_their_own(names, numbers):
    paths = names.split()

    found = first(*map(of, paths, numbers))

    assert found.aliases == {}
    assert all(torch.equal(found.values[p], w) for p, w in zip(paths, WEIGHTS, strict=True))


@pytest.mark.parametrize("store", ["params.W_{}", "params.{}", "all_maps.x{}"])
def test_a_second_path_to_each_array_is_another_name_of_it(store):
    own = [of(f"W_{name}", number) for number, name in enumerate("qkvo")]
    second = [of(store.format(name), number) for number, name in enumerate("qkvo")]

    for found in (first(*own, *second), first(*second, *own)):
        assert len(found.values) == len(found.aliases) == 4
        assert found.unbound == ()
        for name, weight in zip("qkvo", WEIGHTS, strict=True):
            paths = (f"W_{name}", store.format(name))
            path = next(path for path in paths if path in found.values)
            assert torch.equal(found.values[path], weight)
            assert {found.aliases.get(other, path) for other in paths} == {path}


def test_biases_that_start_as_one_array_go_with_the_names_of_their_maps():
    maps = [of(f"W_{name}", number) for number, name in enumerate("qkvo")]
    biases = [of(f"b_{name}", 9, E) for name in "qkvo"]

    found = first(*maps, *biases)

    for name, role in zip("qkvo", ROLES, strict=True):
        assert torch.equal(found.values[f"b_{name}"], role.bias)


def test_the_way_that_was_chosen_is_kept_at_other_sizes():
    paths = [of(path, 0) for path in "abcd"]
    key = first(*paths).key

    assert first(*paths, wanted=key).key == key
