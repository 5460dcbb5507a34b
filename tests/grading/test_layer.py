"""Which of the arrays that a worker found are weights, and which can be spared."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from mha_judge.bank import Bank
from mha_judge.grading.binding.described import ParameterInfo
from mha_judge.grading.binding.maps import RoleWeights
from mha_judge.grading.binding.weights import Unbound
from mha_judge.grading.calling.layer import Layer

E = 6
WORDS = Bank.builtin().vocabulary()
NUMPY = Bank.builtin().problem("mha-numpy").entry[0]
NAMES = ["W_q", "W_k", "W_v", "W_o"]
ROLES = [
    RoleWeights(role.name, torch.randn(E, E), torch.zeros(E), 2, role.split) for role in NUMPY.roles
]


def of(path, *shape, number=None):
    return ParameterInfo(path=path, shape=list(shape), owner="", number=number)


def bare(path):
    return ParameterInfo(path=path, shape=None, owner="", bare=True)


def layer(parameters, spare=(), entry=NUMPY, dispensable=()):
    """Return a layer of these parameters without a worker behind it."""
    made = Layer.__new__(Layer)
    made.parameters, made.entry, made._roles = list(parameters), entry, ROLES
    made._dispensable = list(dispensable)
    made.maker = SimpleNamespace(spare=frozenset(spare))
    made._context = SimpleNamespace(task=SimpleNamespace(vocabulary=WORDS))
    return made


def test_where_all_names_of_the_contract_are_there_only_these_and_vectors_are_bound():
    found = [of("kept", E, E), *(of(name, E, E) for name in NAMES), of("b_q", E), of("b", 1, E)]

    bound = layer([*found, bare("n_heads")])._of_contract()

    assert [one.path for one in bound] == [*NAMES, "b_q", "b"]


@pytest.mark.parametrize(
    "held",
    [bare("W_q"), of("W_q", 1, 1), of("W_q", 1), of("W_q", 0)],
    ids=["none", "(1, 1)", "(1,)", "empty"],
)
def test_an_attribute_that_holds_nothing_to_speak_of_takes_x_times_w(held):
    bound = layer([held, *(of(name, E, 2, 3) for name in NAMES[1:])])._of_contract()

    assert [one.shape for one in bound] == [[E, E], *[[E, 2, 3]] * 3]


def test_without_one_of_the_names_all_arrays_are_bound():
    found = [of(name, E, E) for name in [*NAMES[:3], "grad"]]

    assert layer([*found, bare("n_heads")])._of_contract() == found


def test_a_layer_kept_for_the_diagnosis_keeps_its_weights():
    made = layer([of(name, E, E) for name in NAMES])
    made._roles = [replace(role, bias=torch.ones(E)) for role in ROLES]
    made.maker.chosen, made.bind_first = None, lambda key: None

    kept = made.as_it_is()
    made.without_biases()

    assert all(role.bias.eq(1).all() for role in kept._roles)
    assert all(role.bias.eq(0).all() for role in made._roles)


def test_attributes_for_torch_are_bound_as_they_are():
    found = [*(of(name, E, E) for name in NAMES), of("more", E, E)]

    bound = layer(found, entry=NUMPY.model_copy(update={"arrays": "either"}))._of_contract()

    assert bound == found


def test_what_can_be_spared_is_left_out_where_nothing_fits_with_it():
    maps = [of(f"x{number}", E, E, number=number) for number in range(5)]

    first = next(layer(maps, spare=["x2"]).choices())

    assert first.values.keys() == {"x0", "x1", "x3", "x4"}


def test_what_can_be_spared_is_left_out_after_all_else():
    vectors = [f"p{number}" for number in range(4)]
    plain = [of(path, E, number=number) for number, path in enumerate(vectors)]
    made = layer([*(of(name, E, E) for name in NAMES), *plain], spare=vectors)

    choices = list(made.choices())
    again = list(made.choices(choices[-1].key))

    assert choices[0].values.keys() == {*NAMES, *vectors}
    assert choices[-1].values.keys() == {*NAMES}
    assert again[0].key[0] == choices[-1].key[0]
    assert again[0].values.keys() == choices[-1].values.keys()


def test_nothing_fits_even_without_what_can_be_spared():
    with pytest.raises(Unbound, match="found x0 6×6, x1 6×6"):
        next(layer([of("x0", E, E), of("x1", E, E, number=0)], spare=["x1"]).choices())


def test_a_role_that_a_mistake_has_no_weights_for_may_be_missing():
    found = [of(name, E, E) for name in NAMES[:3]]

    with pytest.raises(Unbound):
        next(layer(found).choices())
    bound = next(layer(found, dispensable=NUMPY.roles[3:]).choices())
    assert [*bound.values] == NAMES[:3]


def test_an_array_that_can_be_spared_counts_where_it_is_bound():
    maps = [*(of(name, E, E) for name in NAMES), of("b_q", E, number=0), of("g", E, number=1)]
    made = layer(maps, spare=["b_q", "g"])
    made.arrangement = next(made.choices())

    assert made.parameter_count == 4 * E * E + E


def test_an_array_that_cannot_be_spared_counts_though_nothing_binds_it():
    made = layer([*(of(name, E, E) for name in NAMES), of("g", E, number=1)])
    made.arrangement = next(made.choices())

    assert made.parameter_count == 4 * E * E + E
