"""Problems on NumPy arrays: graders and diagnosis see tensors, candidates and programs arrays."""

import numpy
import pytest
import torch

from mha_judge.bank.problem import Entry
from mha_judge.grading.expecting.answer import Answer, by_name
from mha_judge.grading.expecting.arrays import (
    as_arrays,
    as_tensors,
    make_layer,
    narrowed,
    on_tensors,
    only_arrays,
    returned,
)
from mha_judge.grading.expecting.expected import pair_up
from mha_judge.grading.failures import CheckFailure
from mha_judge.wire import Opaque

NUMBERS = torch.arange(6.0).reshape(2, 3)


def entry(arrays: str, returns: tuple[str, ...] = ("output",)) -> Entry:
    return Entry(name="f", kind="function", arrays=arrays, returns=list(returns))


def answer(value, wanted: torch.Tensor) -> Answer:
    return Answer(entry("numpy"), value, pair_up(wanted.double(), wanted))


class Maps:
    """A layer as a candidate writes it without torch: x @ W."""

    def __init__(self, width: int, scale: float = 1.0) -> None:
        self.width = width
        self.scale = scale
        self.W = numpy.zeros((width, width))

    def forward(self, x):
        if not isinstance(x, numpy.ndarray):
            raise TypeError("an array is wanted")
        return self.scale * x @ self.W, self.W.sum()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.bool])
def test_tensors_and_arrays_turn_into_one_another_with_their_dtype(dtype):
    tensor = NUMBERS.to(dtype)

    [array, rest] = as_arrays([tensor, None])
    [back, _] = as_tensors([array, rest])

    assert isinstance(array, numpy.ndarray)
    assert rest is None
    assert back.dtype is dtype
    assert torch.equal(back, tensor)


def test_an_array_made_of_a_transposed_tensor_is_transposed_in_memory_too():
    array = as_arrays(NUMBERS.T)

    assert array.shape == (3, 2)
    assert not array.flags.c_contiguous


@pytest.mark.parametrize(
    "array",
    [
        numpy.arange(6.0)[::-1],
        numpy.broadcast_to(numpy.float32(2), (2, 3)),
        numpy.arange(6).reshape(2, 3).T,
        numpy.float64(3.5),
        numpy.zeros((0, 2)),
    ],
    ids=["reversed", "broadcast and read-only", "transposed", "a scalar", "empty"],
)
def test_any_array_of_numbers_becomes_a_tensor_of_its_own(array):
    tensor = as_tensors(array)

    assert isinstance(tensor, torch.Tensor)
    assert tensor.shape == numpy.shape(array)
    assert (tensor.numpy() == array).all()


@pytest.mark.parametrize("value", [None, 3, "text", [1.0], numpy.array(["text"])])
def test_what_is_no_array_of_numbers_stays_what_it_is(value):
    assert as_tensors(value) is value or as_tensors(value) == value


def test_results_keep_their_build_when_arrays_become_tensors():
    value = returned(entry("numpy"), (NUMBERS.numpy(), [NUMBERS.numpy(), None]))

    assert isinstance(value, tuple)
    assert torch.equal(value[0], NUMBERS)
    assert torch.equal(value[1][0], NUMBERS)
    assert value[1][1] is None


def test_an_array_is_no_result_of_a_problem_on_tensors():
    array = NUMBERS.numpy()

    assert returned(entry("torch"), array) is array


def test_where_either_kind_may_come_back_a_table_of_float64_counts_as_float32():
    for value in (NUMBERS.numpy().astype("float64"), NUMBERS.double(), NUMBERS.numpy(), NUMBERS):
        found = returned(entry("either"), value)

        assert found.dtype is torch.float32
        assert torch.equal(found, NUMBERS)


def test_the_banks_own_tensors_are_results_of_a_problem_on_arrays():
    named = by_name(entry("numpy", ("output", "weights")), (NUMBERS, NUMBERS + 1))

    assert torch.equal(named["output"], NUMBERS)
    assert torch.equal(named["weights"], NUMBERS + 1)


def test_a_candidates_tensor_is_not_taken_for_an_array():
    found = only_arrays(entry("numpy"), (NUMBERS, NUMBERS.numpy()))

    assert found[0] == Opaque("a torch.Tensor")
    assert isinstance(found[1], numpy.ndarray)
    assert only_arrays(entry("either"), NUMBERS) is NUMBERS


def test_a_tensor_in_an_answer_is_named_and_an_array_asked_for():
    with pytest.raises(CheckFailure, match=r"output is a torch\.Tensor; a NumPy array is wanted"):
        _ = answer(NUMBERS, NUMBERS).output


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "is a `return` missing"),
        (2.5, "a value of type float"),
        (NUMBERS.tolist(), "a list of"),
        (Opaque("an object of type matrix"), "an object of type matrix"),
    ],
)
def test_anything_else_in_an_answer_is_named_and_an_array_asked_for(value, words):
    found = Answer(entry("numpy"), (value,), pair_up(NUMBERS.double(), NUMBERS))

    with pytest.raises(CheckFailure, match=f"{words}.*; a NumPy array is wanted"):
        _ = found.output


@pytest.mark.parametrize("dtype", ["int64", "complex64"])
def test_numbers_of_another_kind_are_refused_by_their_dtype(dtype):
    with pytest.raises(CheckFailure, match=f"has dtype {dtype}"):
        _ = answer(NUMBERS.numpy().astype(dtype), NUMBERS).output


def test_float64_where_float32_was_given_is_as_good():
    found = answer(NUMBERS.numpy().astype("float64"), NUMBERS).output

    assert found.dtype is torch.float32
    assert torch.equal(found, NUMBERS)


def test_float32_where_float64_was_given_is_not():
    with pytest.raises(CheckFailure, match="has dtype float32; the inputs have float64"):
        _ = answer(NUMBERS.numpy(), NUMBERS.double()).output


@pytest.mark.parametrize("dtype", [torch.int64, torch.float16, torch.float32])
def test_no_other_dtype_is_narrowed(dtype):
    for wanted in (torch.float64, torch.float32, torch.int64):
        assert narrowed(NUMBERS.to(dtype), wanted).dtype is dtype
    assert narrowed(NUMBERS.double(), torch.float16).dtype is torch.float64


def test_a_function_on_arrays_takes_and_returns_tensors():
    seen = []

    def double(x, mask=None):
        seen.append((type(x), mask))
        return 2 * x, x.shape[0]

    output, count = on_tensors(entry("numpy"), double)(NUMBERS, None)

    assert seen == [(numpy.ndarray, None)]
    assert torch.equal(output, 2 * NUMBERS)
    assert count == 2


def test_a_function_on_tensors_is_left_alone():
    assert on_tensors(entry("either"), torch.softmax) is torch.softmax


def test_a_program_of_the_banks_may_overflow_without_a_word():
    overflow = on_tensors(entry("numpy"), lambda x: numpy.exp(1e4 * x) - numpy.exp(1e4 * x))

    assert overflow(NUMBERS + 1).isnan().all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_class_on_arrays_is_a_layer_whose_weights_stand_as_out_in(dtype):
    layer = make_layer(Maps, {"width": 3}, dtype)
    weight = torch.arange(9.0, dtype=dtype).reshape(3, 3)

    dict(layer.named_parameters())["W"].copy_(weight)
    output, total = layer(NUMBERS.to(dtype))

    assert layer.training is False
    assert output.dtype is dtype
    assert torch.equal(output, NUMBERS.to(dtype) @ weight.T)
    assert total.item() == weight.sum().item()


def test_weights_of_one_layer_on_arrays_load_into_another():
    one, other = (make_layer(Maps, {"width": 3, "scale": s}, torch.float64) for s in (1.0, 2.0))
    with torch.no_grad():
        dict(one.named_parameters())["W"].copy_(torch.rand(3, 3))

    other.load_state_dict(one.state_dict())

    assert torch.equal(other(NUMBERS.double())[0], 2 * one(NUMBERS.double())[0])


def test_a_layer_of_torch_is_cast_and_put_into_evaluation():
    layer = make_layer(torch.nn.Linear, {"in_features": 3, "out_features": 2}, torch.float64)

    assert isinstance(layer, torch.nn.Linear)
    assert layer.weight.dtype is torch.float64
    assert layer.training is False


def test_attributes_that_are_no_arrays_are_no_weights():
    layer = make_layer(Maps, {"width": 3}, torch.float32)

    assert [name for name, _ in layer.named_parameters()] == ["W"]
    assert layer.made.width == 3


def test_a_tensor_that_is_given_twice_is_one_array():
    x = torch.ones(2)

    one, (other, third) = as_arrays([x, (x, x.clone())])

    assert one is other and one is not third
