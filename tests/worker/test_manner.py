"""The worker makes a call in the manner that it is told, and leaves everything as it was."""

import numpy
import pytest
import torch

from mha_judge.worker import manner

X = torch.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    ("layout", "strides", "offset"),
    [
        ("transposed", (1, 3), 0),
        ("slice", (8, 1), 36),
        ("gaps", (8, 2), 0),
        ("room", (4, 1), 0),
        ("", (4, 1), 0),
    ],
)
def test_tensors_lie_as_they_are_told_and_hold_what_they_held(layout, strides, offset):
    [laid] = manner.laid_out([X], layout)

    assert torch.equal(laid, X)
    assert (laid.stride(), laid.storage_offset()) == (strides, offset)


def test_the_second_axis_of_four_may_lie_innermost():
    heads = torch.arange(120.0).reshape(2, 3, 4, 5)

    [laid] = manner.laid_out([heads], "innermost")

    assert torch.equal(laid, heads)
    assert (laid.stride(), laid.storage_offset()) == ((60, 1, 15, 3), 4)


def test_there_may_be_room_behind_a_tensor():
    keys = torch.arange(24.0).reshape(2, 3, 4)

    [laid] = manner.laid_out([keys], "room")

    assert torch.equal(laid, keys)
    assert laid.as_strided((2, 7, 4), laid.stride())[:, 3:].eq(0).all()


@pytest.mark.parametrize("layout", ["transposed", "slice", "gaps"])
def test_one_object_stays_one_and_arrays_stay_arrays(layout):
    array = X.numpy()

    one, other, third = manner.laid_out((array, array, X), layout)

    assert one is other and isinstance(one, numpy.ndarray)
    assert numpy.array_equal(one, array) and torch.equal(third, X)


def test_what_is_alike_but_for_its_last_axis_becomes_parts_of_one():
    q, k, mask = X.clone(), torch.ones(3, 5), torch.ones(3, 4).bool()

    laid = manner.laid_out((q, [k, q], {"mask": mask, "array": X.numpy()}), "parts")

    one, [other, again], others = laid
    assert again is one and torch.equal(one, q) and torch.equal(other, k)
    assert one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()
    assert (one.stride(), other.storage_offset()) == ((9, 1), 4)
    assert others["mask"] is mask and numpy.array_equal(others["array"], X.numpy())


def test_two_that_share_positions_begin_at_one_place():
    q, k, mask = torch.rand(2, 5, 4), torch.rand(2, 5, 4), torch.ones(2, 5, 4).bool()
    k[:, :3] = q[:, ::2]

    [one, (other, again)], kept = manner.laid_out(([q, (k, k)], mask), "one start")

    assert torch.equal(one, q) and torch.equal(other, k) and again is other and kept is mask
    assert one.data_ptr() == other.data_ptr() and one.stride() != other.stride()
    [same, apart] = manner.laid_out([q, q.flip(1)], "one start")
    assert same is q and apart.data_ptr() != q.data_ptr()


def test_two_with_the_same_numbers_are_two_views_of_one_memory():
    q, v = torch.rand(2, 3), torch.rand(2, 3)

    [one, other, apart] = manner.laid_out([q, q.clone(), v], "one memory")

    assert one is q and other is not q and apart is v
    assert other.data_ptr() == q.data_ptr() and other.stride() == q.stride()


@pytest.mark.parametrize("axis", [0, -1])
def test_what_is_equal_along_an_axis_is_expanded_and_a_result_on_it_may_be_overwritten(axis):
    equal = torch.arange(6.0).view(2, 3).narrow(axis, 0, 1).expand(2, 3).contiguous()

    [laid, other] = manner.laid_out([equal, torch.arange(6.0).view(2, 3)], "expanded")
    manner.rehearse("filled", "", lambda x: x.view(2, 3), [laid], {}, None)

    assert laid.stride(axis) == 0 and other.is_contiguous()
    assert torch.equal(laid, equal)


def test_what_a_layer_was_copied_from_holds_other_weights_for_a_while():
    layer = torch.nn.Linear(2, 2)
    weight = layer.weight.detach().clone()

    with manner.unlike(manner.another(layer, "copy", lambda one: one), layer):
        assert not torch.equal(layer.weight, weight)
    with manner.unlike(layer, layer):
        assert torch.equal(layer.weight, weight)


@pytest.mark.parametrize("layout", ["transposed", "slice", "gaps", "parts"])
@pytest.mark.parametrize("value", [torch.tensor(3.0), torch.zeros(0), torch.zeros(2, 0), None, 5])
def test_what_has_no_such_layout_is_given_as_it_is(layout, value):
    [laid] = manner.laid_out([value], layout)

    assert torch.equal(laid, value) if isinstance(value, torch.Tensor) else laid == value


@pytest.mark.parametrize(
    ("which", "number", "wanted"),
    [
        ("one", 0, [True, False, False]),
        ("one", 4, [False, True, False]),
        ("all but one", 1, [True, False, True]),
        ("", 0, [False, False, False]),
    ],
)
def test_some_of_the_floating_tensors_require_gradients(which, number, wanted):
    tensors = [torch.ones(2) for _ in range(3)]

    manner.require_gradients((tensors, {"mask": torch.ones(2).bool()}), which, number)

    assert [one.requires_grad for one in tensors] == wanted


def test_the_only_tensor_is_left_as_it_is():
    x = torch.ones(2)

    manner.require_gradients(([x], {}), "one", 0)

    assert not x.requires_grad


def test_the_same_objects_hold_other_numbers_for_a_while():
    x, mask = X.clone(), torch.tensor([True, False])
    spread = torch.ones(1).expand(3)
    versions = x._version

    with manner.changed([x, x, mask, spread, X.numpy().copy()]):
        assert not torch.equal(x, X)
        assert mask.tolist() == [False, True]

    assert torch.equal(x, X) and mask.tolist() == [True, False]
    assert x._version == versions  # as it is where numbers change through `data`, or NumPy


def test_parameters_are_frozen_for_a_while():
    layer = torch.nn.Linear(2, 2)
    layer.bias.requires_grad_(False)

    with manner.frozen(layer, "yes"):
        assert not any(one.requires_grad for one in layer.parameters())

    assert [one.requires_grad for one in layer.parameters()] == [True, False]


def test_what_is_loaded_is_copied_or_takes_the_place_of_the_parameters():
    class Aliased(torch.nn.Linear):
        def __init__(self):
            super().__init__(2, 2, bias=False)
            self.held = [self.weight]

    layer = Aliased()

    copied, replaced = (manner.another(layer, "loaded", lambda one: one, n) for n in (0, 1))

    assert torch.equal(copied.weight, layer.weight) and torch.equal(replaced.weight, layer.weight)
    assert copied.held[0] is copied.weight
    assert replaced.held[0] is not replaced.weight
    with torch.no_grad():
        layer.weight.zero_()
    assert bool(replaced.weight.any())


def test_what_is_loaded_was_copied_while_the_original_held_other_numbers():
    class Remembering(torch.nn.Linear):
        def __deepcopy__(self, memo):
            other = Remembering(2, 2)
            other.remembered = self.weight.detach().clone()
            return other

    layer = Remembering(2, 2)
    before = layer.weight.detach().clone()

    loaded, copied = (manner.another(layer, kind, lambda x: x) for kind in ("loaded", "copy"))

    assert torch.equal(copied.remembered, before) and torch.equal(layer.weight, before)
    assert not torch.equal(loaded.remembered, before)
    assert torch.equal(loaded.weight, before)


@pytest.mark.parametrize(
    ("which", "number", "frozen"),
    [
        ("yes", 0, ["gain", "q.weight", "q.bias"]),
        ("one", 1, ["q.weight"]),
        ("one", 3, ["gain"]),
        ("all but one", 1, ["gain", "q.bias"]),
        ("map", 2, ["q.weight", "q.bias"]),
        ("map", 0, ["gain"]),
    ],
)
def test_what_is_frozen_learns_again_afterwards(which, number, frozen):
    model = torch.nn.Module()
    model.q = torch.nn.Linear(2, 2)
    model.gain = torch.nn.Parameter(torch.ones(2))

    with manner.frozen(model, which, number):
        still = [name for name, one in model.named_parameters() if not one.requires_grad]

    assert still == frozen
    assert all(one.requires_grad for one in model.parameters())


@pytest.mark.parametrize("kind", ["copy", "loaded", "moved"])
def test_another_layer_is_equal_and_another(kind):
    layer = torch.nn.Linear(3, 2)
    seen = []

    other = manner.another(layer, kind, lambda one, *_: seen.append(one.weight.float().clone()))

    assert other is not layer
    assert torch.equal(other.weight, layer.weight) and other.weight.dtype == torch.float32
    assert [torch.equal(one, layer.weight) for one in seen] == [False] * (kind != "copy")


class Growing(torch.nn.Linear):
    """A layer with a buffer that grows with what it is called with."""

    def __init__(self):
        super().__init__(3, 2)
        self.register_buffer("mask", torch.ones(1))

    def forward(self, x):
        self.mask = torch.ones(max(len(x), len(self.mask)))
        return super().forward(x)


def test_every_second_layer_is_loaded_into_a_new_one_after_a_call():
    layer, made = Growing(), []

    def make():
        made.append(Growing())
        return made[-1]

    copied = manner.another(layer, "loaded", lambda one: one(torch.ones(1, 3)), 0, make)
    assert copied is not layer and not made

    with pytest.raises(RuntimeError, match="size mismatch"):
        manner.another(layer, "loaded", lambda one: one(torch.ones(4, 3)), 1, make)
    assert len(made) == 1


def test_what_cannot_be_loaded_is_copied():
    layer = Growing()
    layer.table = torch.ones(2)  # which no state_dict has

    other = manner.another(layer, "loaded", lambda one: one, 1, Growing)
    lazy = manner.another(Growing(), "loaded", lambda one: one, 1, lambda: torch.nn.LazyLinear(2))

    assert torch.equal(other.table, layer.table)
    assert type(lazy) is Growing


@pytest.mark.parametrize(("number", "kept"), [(4, [0.1, -1e9]), (0, [0.100097656, -1e9])])
def test_what_is_moved_has_its_weights_again_but_not_its_buffers(number, kept):
    layer = torch.nn.Linear(3, 2)
    layer.register_buffer("numbers", torch.tensor([0.1, -1e9]))

    other = manner.another(layer, "moved", lambda one, _: one, number)

    assert torch.equal(other.weight, layer.weight)
    assert torch.allclose(other.numbers, torch.tensor(kept), rtol=5e-3)
    assert torch.equal(other.numbers, layer.numbers) is (number == 4)


class Keeping(torch.nn.Linear):
    """A layer that keeps what it is called with first."""

    table = None

    def forward(self, x):
        self.table = x if self.table is None else self.table
        return super().forward(x)


def test_every_second_layer_that_is_moved_is_a_new_one_whose_first_call_is_in_another_dtype():
    layer, x = Keeping(3, 2), torch.ones(1, 3)

    def call(one, dtype=None):
        return manner.called_in(dtype, one, [x], {})

    new = manner.another(layer, "moved", call, 0, lambda: Keeping(3, 2))
    call(layer)
    copied = manner.another(layer, "moved", call, 1, lambda: Keeping(3, 2))

    assert new.table.dtype is torch.bfloat16
    assert copied.table.dtype is torch.float32
    assert torch.equal(new.weight, layer.weight) and torch.equal(copied.weight, layer.weight)


def test_a_layer_whose_buffers_a_new_one_lacks_is_copied_before_it_is_moved():
    layer = Growing()
    layer(torch.ones(4, 3))

    other = manner.another(layer, "moved", lambda one, _: one, 0, Growing)

    assert len(other.mask) == 4


def test_what_refuses_to_be_copied_is_itself():
    layer = torch.nn.Linear(2, 2)
    layer.kept = layer(torch.ones(2))  # as layers keep their weights for plots; no leaf

    assert manner.another(layer, "copy", None) is layer
    assert manner.another("no layer", "copy", None) == "no layer"


@pytest.mark.parametrize("before", ["same", "other numbers", "inference", "backward"])
def test_what_comes_before_may_fail_and_leaves_nothing(before):
    x = X.clone().requires_grad_()
    calls = []

    def target(x):
        calls.append((x.detach().clone(), torch.is_inference_mode_enabled()))
        raise KeyError("never mind")

    manner.rehearse(before, "", target, [x], {}, None)

    [(seen, inference)] = calls
    assert torch.equal(seen, X) is (before != "other numbers")
    assert inference is (before == "inference")
    assert torch.equal(x, X) and x.grad is None


def test_after_a_backward_pass_no_gradient_is_left():
    layer, x = torch.nn.Linear(4, 2), X.clone().requires_grad_()

    manner.rehearse("backward", "", layer, [x], {}, layer)

    assert x.grad is None and layer.weight.grad is None


def test_a_rehearsal_is_made_in_the_mode_of_the_call():
    modes = []

    manner.rehearse("same", "no_grad", lambda: modes.append(torch.is_grad_enabled()), [], {}, None)

    assert modes == [False]


def test_calls_that_follow_have_other_numbers_in_other_tensors_and_the_second_turned_ones():
    x, mask = X[None].clone().requires_grad_(), torch.tensor([True, False])
    calls = []

    def target(*args, **kwargs):
        calls.append((args, kwargs))

    manner.follow("call", "no_grad", target, (x, x), {"mask": mask})

    ((one, other), named), ((turned, _), _), _ = calls
    assert one is other and one is not x and one.shape == x.shape and one.requires_grad
    assert not torch.equal(one, X[None]) and torch.equal(x, X[None])
    assert torch.equal(turned, one.transpose(0, 1)) and turned.requires_grad
    assert named["mask"].tolist() == [False, True] and mask.tolist() == [True, False]


@pytest.mark.parametrize(("after", "same"), [("call", 1), ("calls", 5), ("many calls", 17)])
def test_the_last_call_that_follows_has_flags_the_other_way_round(after, same):
    calls = []

    manner.follow(
        after, "", lambda x, causal, scale: calls.append((causal, scale)), (X, True, 1), {}
    )

    assert calls == [(True, 1)] * (same + 1) + [(False, 1)]


@pytest.mark.parametrize(
    ("before", "held"),
    [
        ("rolled numbers", [[[2.0, 0.0, 1.0], [5.0, 3.0, 4.0]]]),
        ("other shape", [[[0.0, 1.0, 2.0]], [[3.0, 4.0, 5.0]]]),
        ("no_grad", [[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]]),
    ],
)
def test_the_call_before_has_the_same_numbers_in_another_order_or_shape(before, held):
    x, seen = torch.arange(6.0).view(1, 2, 3), []

    manner.rehearse(
        before, "", lambda x: seen.append((x.tolist(), torch.is_grad_enabled())), [x], {}, None
    )

    assert (held, before != "no_grad") in seen
    assert torch.equal(x, torch.arange(6.0).view(1, 2, 3))


def test_calls_that_follow_may_fail_and_are_made_only_where_it_is_told():
    def target(x):
        raise RuntimeError

    manner.follow("call", "", target, [X.numpy()], {})
    manner.follow("", "", pytest.fail, [X], {})


@pytest.mark.parametrize(("before", "model"), [("", None), ("other weights", object())])
def test_nothing_comes_before_a_plain_call_nor_where_there_are_no_weights(before, model):
    calls = []

    manner.rehearse(before, "", calls.append, [X], {}, model)

    assert calls == []


@pytest.mark.parametrize(("number", "other"), [(0, [0, 1]), (1, [0]), (3, [1]), (5, [0])])
def test_all_weights_are_others_before_a_call_or_if_the_number_is_odd_one(number, other):
    layer = torch.nn.Linear(2, 2)
    kept = [one.detach().clone() for one in layer.parameters()]
    seen = []

    def target(x):
        pairs = zip(kept, layer.parameters(), strict=True)
        seen.extend(i for i, pair in enumerate(pairs) if not torch.equal(*pair))

    manner.rehearse("other weights", "", target, [X], {}, layer, number)

    assert seen == other
    assert all(map(torch.equal, kept, layer.parameters()))


def test_calls_that_raise_before_one_are_less_wide_and_then_have_fewer_positions_at_last():
    q, mask = torch.ones(2, 3, 4), torch.ones(3, 3, dtype=torch.bool)
    shapes = []

    def look(*args, **kwargs):
        shapes.append([tuple(one.shape) for one in (*args, *kwargs.values())])
        raise ValueError

    manner.rehearse("error", "no_grad", look, [q, q, mask], {"v": q.numpy()}, None)

    assert shapes == [
        [(2, 3, 3), (2, 3, 3), (3, 3), (2, 3, 3)],
        [(2, 3, 4), (2, 3, 4), (3, 3), (2, 2, 4)],
    ]


def test_calls_that_raise_before_one_have_no_size_of_0():
    k, v = torch.ones(2, 5, 1), numpy.ones((2, 1, 4), dtype=numpy.float32)
    shapes = []

    manner.rehearse(
        "error", "", lambda *x: shapes.append([one.shape for one in x]), [k, v], {}, None
    )

    assert shapes == [[(2, 5, 2), (2, 1, 3)], [(2, 5, 1), (2, 2, 4)]]
