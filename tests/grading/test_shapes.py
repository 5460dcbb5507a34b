"""The sizes of a call, by the letters of its domain, and the same call at other sizes."""

import pytest
import torch

from mha_judge.bank.problem import Domain, Entry
from mha_judge.grading.calling.shapes import Shapes, Unshaped
from mha_judge.grading.draw import Draw

NAMES = ["q", "k", "v", "mask"]
DOMAIN = Domain(
    shapes={"q": "... L D", "k": "... S D", "v": "... S Dv", "mask": "... L S"},
    flags=["mask"],
    long=["L", "S"],
)
LAYER = Domain(
    shapes={"x": "B L width", "mask": "B heads L L"}, flags=["mask"], long=["L"], fits=["x.width"]
)


def attention(mask=None, L=5, S=7, D=3, Dv=2, leading=(2, 4)):
    q, k, v = (torch.randn(*leading, *size) for size in ((L, D), (S, D), (S, Dv)))
    return [q, k, v, mask]


def shapes_of(args, domain=DOMAIN, names=NAMES, **made):
    return Shapes(domain, names, args, made)


def test_letters_have_the_sizes_of_the_call():
    assert shapes_of(attention()).letters == {"L": 5, "S": 7, "D": 3, "Dv": 2}


def test_what_a_layer_was_made_with_has_letters_too():
    shapes = shapes_of([torch.randn(2, 5, 6), None], LAYER, ["x", "mask"], width=6, heads=3)

    assert shapes.letters == {"width": 6, "heads": 3, "B": 2, "L": 5}


@pytest.mark.parametrize(
    "args",
    [
        [*attention()[:2], torch.randn(2, 4, 8, 2)],  # S is 7 and 8
        [torch.randn(3), *attention()[1:]],  # an axis is missing
        [*attention()[:3], torch.ones(6, 7)],  # L is 5 and 6
        [*attention()[:2], [torch.ones(1)]],  # no tensor
    ],
)
def test_a_call_of_other_sizes_is_none_of_the_domain(args):
    with pytest.raises(Unshaped):
        shapes_of(args)


def test_an_input_that_the_domain_does_not_know_is_none_of_it():
    with pytest.raises(Unshaped):
        shapes_of([torch.randn(2, 5, 6), (torch.randn(1),)], LAYER, ["x", "cache"], width=6)


@pytest.mark.parametrize("shape", [(5, 7), (2, 1, 1, 7), (2, 4, 5, 7), (1, 7)])
def test_a_mask_may_lack_axes_and_spread(shape):
    mask = torch.rand(shape) < 0.5
    args = shapes_of(attention(mask)).at({"S": 11, "L": 6}, Draw(1, ""))

    spread = [1 if old == 1 else new for old, new in zip(shape[-2:], (6, 11), strict=True)]
    assert [*args[3].shape] == [*shape[:-2], *spread]
    assert torch.equal(args[3][..., :7][..., : shape[-2], :], mask[..., : args[3].shape[-2], :])
    assert args[1].shape == (2, 4, 11, 3) and args[2].shape == (2, 4, 11, 2)


def test_numbers_of_another_size_are_drawn_anew_in_their_dtype():
    args = attention()
    args[2] = 100 * args[2].double()
    longer = shapes_of(args).at({"S": 500}, Draw(1, ""))

    assert longer[2].dtype is torch.float64
    assert 80 < float(longer[2].std()) < 120
    assert longer[0] is args[0]  # it has no S


def test_what_has_no_number_below_zero_has_none_at_another_size():
    args = attention()
    args[1] = args[1].abs()
    longer = shapes_of(args).at({"S": 500}, Draw(1, ""))

    assert bool((longer[1] >= 0).all()) and bool((longer[2] < 0).any())


def test_one_argument_alone_may_be_changed():
    args = shapes_of(attention()).at({"S": 1}, Draw(1, ""), only="v")

    assert args[1].shape[-2] == 7 and args[2].shape[-2] == 1


def test_leading_axes_are_cut():
    assert shapes_of(attention()).at({}, Draw(1, ""), leading=1)[0].shape == (1, 1, 5, 3)


def test_a_number_may_be_the_size():
    domain = Domain(shapes={"length": "#L", "width": "#D"}, long=["L"], even=["D"])
    shapes = shapes_of([9, 4], domain, ["length", "width"])

    assert shapes.letters == {"L": 9, "D": 4}
    assert shapes.at({"L": 100}, Draw(1, "")) == [100, 4]


def test_a_tuple_has_the_letters_of_each_of_its_tensors():
    domain = Domain(shapes={"x": "B L E", "cache": ["B T E", "B T"]}, long=["T"])
    args = [torch.randn(2, 3, 5), (torch.randn(2, 7, 5), torch.randn(2, 7))]
    shapes = Shapes(domain, ["x", "cache"], args, {})

    longer = shapes.at({"T": 300}, Draw(1, ""))

    assert shapes.letters == {"B": 2, "L": 3, "E": 5, "T": 7}
    assert [one.shape for one in longer[1]] == [(2, 300, 5), (2, 300)]
    for cache in ((torch.randn(2, 7, 5),), (torch.randn(2, 7, 5), torch.randn(2, 8)), "kept"):
        with pytest.raises(Unshaped):
            Shapes(domain, ["x", "cache"], [args[0], cache], {})


@pytest.mark.parametrize("shape", [(2,), (2, 5)])
def test_lengths_may_have_several_forms_and_are_drawn_anew(shape):
    domain = Domain(shapes={"x": "B L S", "lens": "B | B L"}, lengths={"lens": "S"}, long=["S"])
    lens = torch.ones(shape, dtype=torch.int32)
    shapes = Shapes(domain, ["x", "lens"], [torch.randn(2, 5, 7), lens], {})

    longer = shapes.at({"S": 3_000, "L": 40}, Draw(1, ""))[1]

    assert longer.shape == (2, 40)[: len(shape)] and longer.dtype is torch.int32
    assert 7 < int(longer.max()) <= 3_000 and int(longer.min()) >= 1


def test_numbers_flags_and_places_of_a_letter():
    shapes = shapes_of(attention(torch.ones(5, 7)))

    assert [*shapes.numbers] == [0, 1, 2]
    assert [*shapes.flags] == [3]
    assert shapes.places("S") == [(1, 2), (2, 2)]


def test_calls_of_one_pattern_differ_in_sizes_alone():
    ordinary = shapes_of(attention()).pattern

    assert shapes_of(attention(L=6, S=9)).pattern == ordinary
    assert shapes_of(attention(leading=())).pattern != ordinary
    assert shapes_of(attention(torch.ones(5, 7))).pattern != ordinary
    bools = shapes_of(attention(torch.ones(5, 7).bool())).pattern
    assert bools == shapes_of(attention(torch.ones(5, 7))).pattern  # of dtypes each is asked for


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"long": ["T"]}, "no shape has the letter 'T'"),
        ({"at_most": {"L": "S"}}, "no shape has the letter 'S'"),
        ({"covers": ["q.S"]}, "the shape of 'q' has no letter 'S'"),
        ({"fits": ["q.S"]}, "the shape of 'q' has no letter 'S'"),
        ({"flags": ["mask"]}, "'mask' has no shape"),
    ],
)
def test_a_domain_of_letters_that_nothing_has_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        Domain(shapes={"q": "... L D"}, **fields)


def test_a_mask_of_one_position_grows_with_its_input():
    args = shapes_of(attention(torch.ones(1, 7), L=1)).at({"L": 9}, Draw(1, ""))

    assert args[0].shape[-2] == 9 and args[3].shape == (9, 7)


@pytest.mark.parametrize(
    ("domain", "message"),
    [
        (Domain(shapes={"y": "L D"}), "'y' is no argument"),
        (Domain(shapes={"x": "L D"}, divides={"D": "heads"}), "'heads' is no argument"),
        (Domain(shapes={"x": "L D"}, divides={"E": "n"}), "'E' is no size"),
        (Domain(shapes={"x": "L D"}, grow=["block"]), "'block' is no argument"),
    ],
)
def test_a_domain_of_what_the_entry_does_not_have_is_refused(domain, message):
    with pytest.raises(ValueError, match=message):
        Entry(name="f", kind="function", arguments=["x", "n"], domain=domain)
