"""The arrays of an instance are found, and set, wherever a class keeps them."""

import numpy
import pytest
import torch

from mha_judge.worker import instances
from mha_judge.worker.submission import MODULE

PREAMBLE = """
from collections import UserDict, deque
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

def array(seed):
    return np.random.default_rng(seed).normal(size=(2, 3))
"""


def made(source):
    """Return an instance of the class C of a submission."""
    names = {"__name__": MODULE}
    exec(PREAMBLE + source, names)
    return names["C"]()


def told(instance):
    found = instances.parameters(instance)
    return {one["path"]: one for one in found if not one.get("bare")}


def filled(instance, aliases=None, in_place=False):
    """Set every array to another number throughout, and return which by path."""
    aliases = aliases or {}
    found = [one for path, one in told(instance).items() if path not in aliases]
    numbers = {one["path"]: 5.0 + place for place, one in enumerate(found)}
    numbers = {path: number + in_place for path, number in numbers.items()}
    values = {
        one["path"]: torch.full(one["shape"], numbers[one["path"]], dtype=torch.float64)
        for one in found
    }
    instances.set_parameters(instance, values, "float64", aliases, in_place=in_place)
    return numbers


SLOTS = """
class C:
    __slots__ = ("W_v", "W_k", "__hidden", "unset")
    def __init__(self):
        self.W_v, self.W_k, self.__hidden = array(1), array(2), array(3)
    def read(self):
        return [self.W_v, self.W_k, self.__hidden]
"""
DICT = """
def of(name):
    return property(lambda self: self._p[name], lambda self, w: self._p.__setitem__(name, w))
class C:
    W_q, W_k = of("one"), of("two")
    def __init__(self):
        self._p = {"one": array(1), "two": array(1)}
    def read(self):
        return [self._p["one"], self._p["two"]]
"""
STACK = """
class Row:
    def __init__(self, index): self.index = index
    def __get__(self, of, cls): return self if of is None else of.rows[self.index].T
    def __set__(self, of, w): of.rows[self.index] = w.T
class C:
    W_q, W_k = Row(0), Row(1)
    def __init__(self):
        self.rows = np.stack([array(1), array(2)])
    def read(self):
        return list(self.rows)
"""
COPY = """
class C(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = [torch.ones(2, 3), torch.zeros(2, 3)]
    @property
    def W_q(self): return self.kept[0].clone()
    @W_q.setter
    def W_q(self, w): self.kept[0] = w.clone()
    @property
    def W_k(self): return self.kept[1].clone()
    @W_k.setter
    def W_k(self, w): self.kept[1] = w.clone()
    def read(self):
        return self.kept
"""
FROZEN = """
@dataclass(frozen=True)
class Kept:
    first: Any
    rest: tuple
class Pair(NamedTuple):
    one: Any
    two: Any
class C:
    def __init__(self):
        self.kept = Kept(array(1), (array(2), array(3)))
        self.pair = Pair(array(4), array(5))
        self.more = SimpleNamespace(last=array(6))
    def read(self):
        pair = self.pair
        return [self.kept.first, *self.kept.rest, pair.one, pair.two, self.more.last]
"""
KEYS = """
class Role(Enum):
    QUERY = "q"
class C:
    def __init__(self):
        self.w = {("q", 0): array(1), Role.QUERY: array(2), 1: array(3), None: array(4)}
    def read(self):
        return list(self.w.values())
"""
MAPPINGS = """
class Own(UserDict):
    pass
class C:
    def __init__(self):
        self.own, self.row = Own(W_q=array(1)), deque([array(2)])
        self.fixed = MappingProxyType({"W_k": array(3), "W_v": array(4)})
    def read(self):
        return [self.own["W_q"], *self.row, *self.fixed.values()]
"""
DEEP = """
class C:
    def __init__(self):
        self.w = {"a": [{"b": {"c": [{"d": [array(1)]}]}}]}
        self.w["itself"] = self.w
        self.again = [self, self.w]
    def read(self):
        return [self.w["a"][0]["b"]["c"][0]["d"][0]]
"""
BESIDE = """
class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.w, self.n = nn.Parameter(torch.ones(2, 3)), 5
        self.bias = torch.zeros(3)
class C(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.b_o = Inner(), torch.zeros(3)
        self.more = {"W_o": torch.ones(2, 3)}
    def read(self):
        return [self.b_o, self.more["W_o"], self.inner.w, self.inner.bias]
"""
IGNORING = """
class C(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = torch.ones(2, 3)
    @property
    def W_q(self): return self.kept
    @W_q.setter
    def W_q(self, w): pass
    def read(self):
        return [self.kept]
"""


@pytest.mark.parametrize(
    ("source", "paths"),
    [
        (SLOTS, ["W_v", "W_k", "_C__hidden"]),
        (DICT, ["W_q", "W_k"]),
        (STACK, ["W_q", "W_k"]),
        (COPY, ["W_q", "W_k"]),
        (
            FROZEN,
            ["kept.first", "kept.rest.0", "kept.rest.1", "pair.0", "pair.1", "more.last"],
        ),
        (KEYS, ["w.q_0", "w.QUERY", "w.1", "w.None"]),
        (MAPPINGS, ["own.W_q", "row.0", "fixed.W_k", "fixed.W_v"]),
        (BESIDE, ["b_o", "more.W_o", "inner.w", "inner.bias"]),
        (IGNORING, ["kept"]),
    ],
    ids=[
        "slots",
        "properties of a dict",
        "views of a stack",
        "copies",
        "frozen",
        "keys of any kind",
        "mappings of any kind",
        "plain tensors beside parameters",
        "a setter that ignores",
    ],
)
def test_arrays_are_found_by_the_names_they_can_be_set_by(source, paths):
    instance = made(source)

    for in_place in (False, True):
        numbers = filled(instance, in_place=in_place)

        assert list(numbers) == paths
        for array, number in zip(instance.read(), numbers.values(), strict=True):
            assert (array == number).all()


def test_arrays_that_are_written_into_stay_the_same_objects():
    instance = made(SLOTS)
    filled(instance)
    before = instance.read()

    filled(instance, in_place=True)

    assert all(one is other for one, other in zip(before, instance.read(), strict=True))


def test_tensors_in_half_precision_are_written_into_too():
    instance = made(COPY)
    values = {name: torch.full((2, 3), 2.0, dtype=torch.bfloat16) for name in ("W_q", "W_k")}

    for in_place in (False, True):
        instances.set_parameters(instance, values, "bfloat16", {}, in_place=in_place)

    assert all(bool((one == 2).all()) for one in instance.read())


@pytest.mark.parametrize("elsewhere", [True, False])
def test_parameters_of_torch_stay_objects_and_may_lie_in_other_memory(elsewhere):
    layer = torch.nn.Linear(2, 2)
    weight, at = layer.weight, layer.weight.data_ptr()

    instances.set_parameters(layer, {"weight": torch.ones(2, 2)}, None, {}, elsewhere=elsewhere)

    assert layer.weight is weight and bool((weight == 1).all())
    assert (weight.data_ptr() != at) is elsewhere


def test_arrays_are_found_deep_down_and_in_what_holds_itself():
    instance = made(DEEP)
    paths = list(told(instance))

    filled(instance, dict.fromkeys(paths[1:], paths[0]))

    assert paths == ["w.a.0.b.c.0.d.0", "again.1.a.0.b.c.0.d.0"]
    assert (instance.read()[0] == 5).all()


def test_of_two_paths_that_read_alike_the_first_is_told_and_of_endless_ones_none():
    source = """
class C:
    def __init__(self):
        self.w = {1: array(1), "1": array(2), "x" * 999: array(3)}
"""

    assert list(told(made(source))) == ["w.1"]


def test_modules_are_found_once_each_in_what_holds_itself():
    source = """
class Head:
    def __init__(self, of):
        self.of, self.map = of, nn.Linear(2, 2)
class C:
    def __init__(self):
        self.heads = {number: Head(self) for number in range(20)}
"""

    assert len(list(instances.modules(made(source)))) == 20


def test_a_setter_that_ignores_what_it_is_given_is_an_error():
    source = """
class C:
    kept = np.zeros((2, 2))
    @property
    def W_q(self): return self.kept
    @W_q.setter
    def W_q(self, w): pass
"""

    with pytest.raises(AttributeError, match="`W_q` cannot be set from outside: it stays"):
        instances.set_parameters(made(source), {"W_q": torch.ones(2, 2)}, "float64", {})


@pytest.mark.parametrize("held", ["None", "np.eye(2, dtype=int)", "property(lambda self: 1)"])
def test_attributes_without_arrays_are_told_and_set_as_from_outside(held):
    instance = made(f"class C:\n    W_q = {held}\n")

    assert [one["path"] for one in instances.parameters(instance) if one.get("bare")] == ["W_q"]
    if "property" in held:
        with pytest.raises(AttributeError, match="`W_q` cannot be set from outside"):
            instances.set_parameters(instance, {"W_q": torch.ones(2, 2)}, "float64", {})
    else:
        instances.set_parameters(instance, {"W_q": torch.ones(2, 2)}, "float64", {})
        assert (instance.W_q == numpy.ones((2, 2))).all()


def test_what_a_property_stores_in_stays_as_it_was():
    instance = made(STACK)
    before = instance.rows.copy()

    instances.parameters(instance)

    assert numpy.array_equal(instance.rows, before)


@pytest.mark.parametrize(
    "body",
    [
        "return self.kept[0]",  # no setter
        "raise RuntimeError",
    ],
)
def test_a_property_that_cannot_be_used_hides_nothing(body):
    source = f"""
class C:
    def __init__(self):
        self.kept = [array(1), array(2)]
    @property
    def W_q(self):
        {body}
"""

    assert list(told(made(source))) == ["kept.0", "kept.1"]


def test_a_stack_of_which_properties_show_a_part_is_listed_as_well():
    source = """
class C:
    def __init__(self):
        self.rows = np.stack([array(1), array(2)])
    @property
    def W_q(self): return self.rows[0]
    @W_q.setter
    def W_q(self, w): self.rows[0] = w
"""

    assert list(told(made(source))) == ["W_q", "rows"]


def test_an_array_at_several_paths_has_one_number_and_one_it_stays():
    source = """
class C:
    def __init__(self):
        self.W_q = array(1)
        self.W_k = array(1)
        self.by_name = {"W_q": self.W_q}
"""
    instance = made(source)

    found = told(instance)
    filled(instance, {"by_name.W_q": "W_q"})

    assert found["W_q"]["number"] == found["by_name.W_q"]["number"] != found["W_k"]["number"]
    assert instance.by_name["W_q"] is instance.W_q is not instance.W_k


def test_one_array_for_all_can_be_set_apart():
    source = """
class C:
    def __init__(self):
        self.W_q = self.W_k = np.eye(3)
        self.rest = [np.eye(3)] * 2
"""
    instance = made(source)

    filled(instance)

    arrays = [instance.W_q, instance.W_k, *instance.rest]
    assert [array[0, 0] for array in arrays] == [5, 6, 7, 8]


def test_a_parameter_or_module_of_torch_that_is_shared_stays_shared():
    source = """
class C:
    def __init__(self):
        self.W_q = self.W_k = nn.Parameter(torch.ones(2, 3))
        self.W_v = self.W_o = nn.Linear(2, 3, bias=False)
"""

    assert list(told(made(source))) == ["W_q", "W_v.weight"]


def test_a_property_in_front_of_a_parameter_of_torch_is_not_listed_beside_it():
    source = """
class C:
    def __init__(self):
        self._q = nn.Parameter(torch.ones(2, 3))
    @property
    def W_q(self): return self._q.data
    @W_q.setter
    def W_q(self, w): self._q.data.copy_(w)
"""

    assert list(told(made(source))) == ["_q"]


def test_vectors_that_start_as_ones_or_zeros_are_told():
    source = """
class C(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(3)
        self.p3 = nn.Parameter(torch.tensor([1.0, 0.0]))
        self.row = nn.Parameter(torch.zeros(1, 1, 3))
        self.square = nn.Parameter(torch.ones(2, 2))
        self.lazy = nn.LazyLinear(3)
"""

    starts = {path: one["start"] for path, one in told(made(source)).items()}

    assert starts == {
        "p3": None,
        "row": "zeros",
        "square": None,
        "norm.weight": "ones",
        "norm.bias": "zeros",
        "lazy.weight": None,
        "lazy.bias": None,
    }
