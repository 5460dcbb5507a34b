"""Values arrive exactly as they were, and what cannot cross arrives as a word on what it was."""

import contextlib
import json
import math
import struct
import tracemalloc

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save

from mha_judge.wire import Kept, Opaque, WireError, pack, unpack
from mha_judge.wire.values import DTYPES, MAX_DEPTH, MAX_NODES, MAX_TEXT

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
KEYS = st.text() | st.integers() | st.booleans() | st.none()


def over_the_wire(value, strides=False):
    tree, payload = pack(value, strides)
    return unpack(json.loads(json.dumps(tree)), payload, strides)


@given(
    st.recursive(
        SCALARS,
        lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(KEYS, inner),
        max_leaves=20,
    )
)
def test_plain_values_arrive_equal_and_of_the_same_type(value):
    assert repr(over_the_wire(value)) == repr(value)


@pytest.mark.parametrize(
    "value",
    [
        math.inf,
        -math.inf,
        -0.0,
        0.0,
        5e-324,
        1.7976931348623157e308,
        0.1,
        2**64,
        -(10**300),
        "",
        "\0é漢",
    ],
)
def test_extreme_scalars_arrive_exactly(value):
    found = over_the_wire(value)

    assert type(found) is type(value)
    assert repr(found) == repr(value)


def test_nan_arrives_as_nan():
    assert math.isnan(over_the_wire(math.nan))


@pytest.mark.parametrize("name", DTYPES)
def test_a_tensor_of_each_dtype_arrives_with_the_same_bits(name):
    tensor = (torch.randn(3, 5) * 10).abs().to(getattr(torch, name))

    found = over_the_wire(tensor)

    assert found.dtype is tensor.dtype
    assert torch.equal(found, tensor)


def test_non_finite_elements_and_the_sign_of_zero_survive():
    tensor = torch.tensor([math.nan, math.inf, -math.inf, -0.0, 0.0])

    found = over_the_wire(tensor)

    assert found.view(torch.int32).tolist() == tensor.view(torch.int32).tolist()


@pytest.mark.parametrize(
    "tensor",
    [torch.tensor(3.0), torch.zeros(0), torch.zeros(2, 0, 3), torch.tensor(True), torch.ones(1, 1)],
    ids=["0-dim", "empty", "empty inside", "bool", "ones"],
)
def test_small_shapes_arrive_as_they_are(tensor):
    found = over_the_wire(tensor)

    assert (found.shape, found.dtype) == (tensor.shape, tensor.dtype)
    assert torch.equal(found, tensor)


NUMBERS = torch.arange(210.0).reshape(2, 3, 5, 7)


@pytest.mark.parametrize(
    "tensor",
    [
        NUMBERS.transpose(1, 2), NUMBERS[..., ::2], NUMBERS.permute(3, 1, 0, 2),
        NUMBERS.transpose(-1, -2)[:, :, 1:4], NUMBERS[:, 1], NUMBERS.bfloat16().mT,
    ],
    ids=["transposed", "every other", "permuted", "sliced", "one of an axis", "bfloat16"],
)  # fmt: skip
def test_a_tensor_that_is_not_contiguous_arrives_equal_and_not_contiguous(tensor):
    assert not tensor.is_contiguous()

    found = over_the_wire(tensor, strides=True)

    assert torch.equal(found, tensor)
    assert not found.is_contiguous()
    assert found.stride() == tensor.stride()
    assert found.storage_offset() == tensor.storage_offset()


@pytest.mark.parametrize(
    "tensor", [torch.ones(1, 3, 1).expand(2, 3, 5), torch.arange(3.0).expand(4, 3)]
)
def test_an_expanded_tensor_arrives_contiguous(tensor):
    found = over_the_wire(tensor, strides=True)

    assert torch.equal(found, tensor)
    assert found.is_contiguous()


@pytest.mark.parametrize("order", [(1, 0, 2), (2, 1, 0), (0, 2, 1), (1, 2, 0)])
def test_axes_lie_in_memory_in_the_same_order(order):
    tensor = torch.randn(3, 5, 7).permute(order)

    assert over_the_wire(tensor, strides=True).stride() == tensor.stride()


def test_a_permuted_axis_of_one_keeps_its_place():
    tensor = torch.randn(3, 1, 5).permute(0, 2, 1)

    found = over_the_wire(tensor, strides=True)

    assert torch.equal(found, tensor)


def test_one_tensor_given_twice_arrives_as_one():
    tensor = torch.randn(3, 5).T

    one, other = over_the_wire([tensor, tensor], strides=True)

    assert one is other


@pytest.mark.parametrize(
    "tree",
    [["list", [["tensor", "0"], ["tensor", "0"]]], ["strided", "0", [1, 2], 0]],
    ids=["one tensor twice", "strided"],
)
def test_a_worker_cannot_have_a_tensor_copied(tree):
    with pytest.raises(WireError):
        unpack(tree, save({"0": torch.zeros(2, 3)}))


def test_views_that_share_memory_arrive_each_with_its_own():
    tensor = torch.ones(3)

    one, other = over_the_wire([tensor, tensor[:]])
    one.zero_()

    assert other.tolist() == [1, 1, 1]


def test_conjugate_and_negative_views_arrive_resolved():
    tensor = torch.tensor([1 + 2j, 3 - 4j])

    assert torch.equal(over_the_wire(tensor.conj()), torch.tensor([1 - 2j, 3 + 4j]))
    assert torch.equal(over_the_wire(tensor.conj().imag), torch.tensor([-2.0, 4.0]))


def test_a_parameter_arrives_as_a_plain_tensor_without_a_graph():
    found = over_the_wire(torch.nn.Parameter(torch.ones(2)))

    assert type(found) is torch.Tensor
    assert not found.requires_grad


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "uint8", "bool"])
def test_a_numpy_array_arrives_as_one(dtype):
    array = numpy.arange(6).reshape(2, 3).astype(dtype)[:, ::-1]

    found = over_the_wire(array)

    assert isinstance(found, numpy.ndarray)
    assert found.dtype == array.dtype
    assert (found == array).all()


@pytest.mark.parametrize("order", ["big", "little"])
def test_a_numpy_array_arrives_whatever_the_order_of_its_bytes(order):
    array = numpy.array([1.5, -2.0]).astype(numpy.dtype("float32").newbyteorder(order))

    found = over_the_wire(array)

    assert found.dtype == numpy.float32
    assert found.tolist() == [1.5, -2.0]


def test_a_strided_numpy_array_of_the_judges_arrives_strided():
    array = numpy.arange(30.0).reshape(5, 6)[:, ::2].T

    found = over_the_wire(array, strides=True)

    assert isinstance(found, numpy.ndarray)
    assert (found == array).all()
    assert not found.flags.c_contiguous
    assert found.flags.writeable


@pytest.mark.parametrize(
    ("value", "expected"),
    [(numpy.float32(0.5), 0.5), (numpy.int64(7), 7), (numpy.bool_(True), True)],
)
def test_a_numpy_scalar_arrives_as_the_python_number(value, expected):
    found = over_the_wire(value)

    assert (found, type(found)) == (expected, type(expected))


def test_tensors_inside_lists_tuples_and_dicts_keep_their_places():
    value = {"a": [torch.tensor(1), (torch.tensor(2), None)], "b": torch.tensor(3)}

    found = over_the_wire(value)

    assert [int(found["a"][0]), int(found["a"][1][0]), int(found["b"])] == [1, 2, 3]
    assert isinstance(found["a"][1], tuple)


def test_a_name_for_a_kept_object_arrives_as_one():
    assert over_the_wire([Kept(7, (1, 0), 2, -2, True)]) == [Kept(7, (1, 0), 2, -2, True)]


def test_a_kept_object_is_passed_on_as_it_is_or_in_part_or_turned_in_place():
    found = [torch.arange(6.0).view(3, 2)]

    assert Kept(1).passed_on(found) is found
    [part] = Kept(1, count=2).passed_on(found)
    [other] = Kept(1, count=1, axis=-1).passed_on(found)
    assert part.tolist() == [[0, 1], [2, 3]] and other.tolist() == [[0], [2], [4]]
    assert Kept(1, turned=True).passed_on(found) is found
    assert found[0].tolist() == [[4, 5], [2, 3], [0, 1]]


class Subclass(torch.Tensor):
    """What a file may return in place of a tensor."""


class Shouting(int):
    """A number with a mind of its own."""


def _quantised():
    return torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8)


@pytest.mark.filterwarnings("ignore:.*quantize_per_tensor.*")
@pytest.mark.filterwarnings("ignore:.*quantiz.*deprecated.*")
@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: torch.ones(2).as_subclass(Subclass), "subclass, Subclass"),
        (lambda: torch.eye(3).to_sparse(), "sparse"),
        (lambda: torch.ones(2, device="meta"), "device meta"),
        (_quantised, "quantised"),
        (lambda: torch.ones(2).to(torch.float8_e5m2), "float8_e5m2"),
        (lambda: torch.zeros(1).expand(2**40), "1099511627776"),
        (lambda: torch.zeros(1, 1).expand(2**20, 2**20), "1048576, 1048576"),
        (lambda: numpy.broadcast_to(numpy.zeros(1), 2**40), "1099511627776 elements"),
        (lambda: numpy.array(["text"]), "numpy array of dtype str"),
        (lambda: numpy.array([object()]), "numpy array of dtype object"),
        (lambda: lambda: None, "type function"),
        (object, "type object"),
        (lambda: Shouting(3), "type Shouting"),
        (lambda: {1, 2}, "type set"),
        (lambda: 1 + 2j, "type complex"),
        (lambda: 1 << 10_000, "10001 bits"),
    ],
)  # fmt: skip
def test_what_cannot_cross_arrives_as_opaque_and_says_what_it_was(make, what):
    value = make()
    tracemalloc.start()

    found = over_the_wire(value)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(found, Opaque)
    assert what in found.what
    assert peak < 16 * 1024**2


def test_tensors_together_beyond_the_bound_become_opaque(monkeypatch):
    monkeypatch.setattr("mha_judge.wire.values.MAX_TENSOR_BYTES", 100)

    first, second = over_the_wire([torch.zeros(20), torch.zeros(20)])

    assert isinstance(first, torch.Tensor)
    assert isinstance(second, Opaque)


def test_nesting_beyond_the_bound_becomes_opaque_even_where_it_never_ends():
    endless: list = []
    endless.append(endless)

    found = over_the_wire(endless)

    for _ in range(MAX_DEPTH + 1):
        [found] = found
    assert isinstance(found, Opaque)


def test_a_list_beyond_the_bound_is_cut_where_it_is_packed():
    tree, _ = pack(list(range(10 * MAX_NODES)))

    assert len(tree[1]) <= MAX_NODES + 1


def test_text_is_bounded_and_a_lone_surrogate_replaced():
    assert len(over_the_wire("x" * (MAX_TEXT + 5))) == MAX_TEXT
    assert over_the_wire("a\ud800b") == "a?b"


def _nested(depth):
    tree = ["none"]
    for _ in range(depth):
        tree = ["list", [tree]]
    return tree


TENSORS = save({"0": torch.zeros(2, 3)})


@pytest.mark.parametrize(
    "tree",
    [
        None, 3, "int", {}, [], [3], [None, "x"], ["unknown"], ["none", 1], ["bool", 1],
        ["int", 3], ["int", "x"], ["int", ""], ["int", "9" * 1002], ["float", "zzz"],
        ["float", "0x1p99999"], ["float", 0.5], ["str", 3], ["str", "x" * (MAX_TEXT + 1)],
        ["opaque", None], ["kept", "1", [], 0, 0, False], ["kept", 1, ["x"], 0, 0, False],
        ["kept", 1, [True], 0, 0, False],
        ["list", "ab"], ["list", [1]], ["tuple"], ["dict", [["str", "a"]]],
        ["dict", [[["str", "a"]]]], ["dict", {"a": 1}], ["tensor", "1"], ["tensor", 0], ["tensor"],
        ["array", "1"], ["strided", "1", [3, 1], 0], ["strided", "0", [1], 0],
        ["strided", "0", [0, 1], 0], ["strided", "0", [3, 1], -1],
        ["strided", "0", [3, -1], 0], ["strided", "0", ["3", "1"], 0],
        ["strided", "0", [3, 1, 1], 0], ["strided", "0", [[], {}], 0],
        ["strided", "0", [2**40, 1], 0], ["strided", "0", [3, 1], 2**40],
        ["strided", "0", [2**70, 1], 0], ["strided", "0", [0.5, 1], 0],
        ["strided", "0", None, 0], ["strided", "0", [3, 1], "1"], _nested(MAX_DEPTH + 2),
        ["list", [["none"]] * (MAX_NODES + 1)],
    ],
    ids=lambda tree: str(tree)[:40],
)  # fmt: skip
def test_a_tree_that_pack_does_not_make_is_refused(tree):
    with pytest.raises(WireError):
        unpack(tree, TENSORS)


@pytest.mark.parametrize(
    "payload",
    [
        b"x", bytes(100), b"\xff" * 100, TENSORS[:-1], TENSORS + b"x", TENSORS[:20],
        struct.pack("<Q", 2**60) + b"{}",
        struct.pack("<Q", 60) + b'{"0":{"dtype":"F32","shape":[9999],"data_offsets":[0,4]}}   xxxx',
    ],
)  # fmt: skip
def test_tensor_bytes_that_do_not_parse_are_refused(payload):
    with pytest.raises(WireError, match=r"tensor bytes|more tensors"):
        unpack(["none"], payload)


@pytest.mark.parametrize(
    ("tree", "tensor"),
    [
        (["array", "0"], torch.zeros(2, dtype=torch.bfloat16)),
        (["array", "0"], torch.zeros(2).to(torch.float8_e5m2)),
        (["strided", "0", [2**62, 1], 0], torch.zeros(0, 2**62)),
        (["tensor", "0"], torch.zeros(0, 2**62)),
    ],
    ids=["bfloat16 array", "float8 array", "strided, empty but wide", "empty but wide"],
)
def test_tensors_that_torch_cannot_rebuild_are_refused(tree, tensor):
    with pytest.raises(WireError):
        unpack(tree, save({"0": tensor}))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=20,
)
KINDS = st.sampled_from(
    "none bool int float str opaque kept list tuple dict tensor strided array".split()
)
NODES = st.recursive(
    st.tuples(KINDS, st.sampled_from(["0", "1", "-3", "nan", "0x1p3", True, 0]) | JSON).map(list),
    lambda inner: (
        st.tuples(KINDS, st.lists(inner | st.lists(inner, max_size=2), max_size=3)).map(list)
        | st.tuples(
            st.just("strided"),
            st.just("0"),
            st.lists(st.integers(-1, 2), max_size=3) | JSON,
            st.integers(-1, 2),
        ).map(list)
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(JSON | NODES)
def test_arbitrary_trees_raise_nothing_but_wire_errors(tree):
    with contextlib.suppress(WireError):
        unpack(tree, TENSORS)


@given(st.binary(max_size=120))
def test_arbitrary_payloads_raise_nothing_but_wire_errors(payload):
    with contextlib.suppress(WireError):
        unpack(["tensor", "0"], payload)


@pytest.mark.parametrize("turned", [False, True])
def test_an_array_that_is_given_twice_arrives_as_one(turned):
    array = numpy.arange(6.0).reshape(2, 3)
    array = array.T if turned else array

    one, other, third = unpack(*pack((array, array, array.copy()), strides=True), strides=True)

    assert one is other and one is not third
    assert numpy.array_equal(one, array)
