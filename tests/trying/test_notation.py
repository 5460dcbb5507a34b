"""Calls are read, never run; what is written is read back."""

import ast
import math

import pytest
import torch

from mha_judge.errors import UsageError
from mha_judge.grading.draw import Draw
from mha_judge.trying.notation import MAX_NUMBERS, Notation, written


def read(text: str):
    return Notation(Draw(1, "test")).value(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("torch.tensor([[1., 2.]]) / 2", torch.tensor([[0.5, 1.0]])),
        ("-ones(2, 3).T", -torch.ones(3, 2)),
        ("torch.tril(torch.ones(2, 2)).bool()", torch.ones(2, 2).tril().bool()),
        ("arange(6).reshape(2, 3)[1:, ::2]", torch.tensor([[3, 5]])),
        ("zeros(2, dtype=torch.float64)", torch.zeros(2, dtype=torch.float64)),
        ("full((2,), float('-inf'))", torch.full((2,), -math.inf)),
        ("np.array([1., 2.])", torch.tensor([1.0, 2.0], dtype=torch.float64)),
        ("arange(3) == 1", torch.tensor([False, True, False])),
        ("eye(2).to(torch.int64)", torch.eye(2).long()),
    ],
)
def test_what_people_write_is_read(text, value):
    found = read(text)

    assert found.dtype is value.dtype
    assert torch.equal(found, value)


VALUES = [
    torch.tensor([[1.0, -2.0], [0.0, 10.0]]),
    torch.tensor([[True, False]]),
    torch.tensor([3, 100]),
    torch.tensor([1, 2], dtype=torch.int8),
    torch.tensor([0.5, -math.inf]),
    torch.tensor([[0.05, 10.01], [1e-07, -3.0]], dtype=torch.float64),
    torch.tensor(7.0),
    torch.zeros(0, 3)[:, 0],
]
OF_TORCH_ALONE = [torch.tensor([[1.0]], dtype=torch.bfloat16)]


@pytest.mark.parametrize(
    ("value", "arrays"),
    [
        *((value, False) for value in VALUES + OF_TORCH_ALONE),
        *((value, True) for value in VALUES),
    ],
)
def test_what_is_written_is_read_back(value, arrays):
    found = read(written(value, arrays=arrays))

    assert found.dtype is value.dtype
    assert torch.equal(found, value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("__import__('os').system('true')", "cannot be called here"),
        ("open('x')", "cannot be called here"),
        ("rand(2)", "did you mean `randn`?"),
        ("(lambda: 1)()", "cannot be called here"),
        ("ones(2).__class__", "cannot be read"),
        ("torch.load('x')", "cannot be called here"),
        ("ones(2).numpy()", "cannot be called here"),
        ("[n for n in arange(3)]", "cannot be read"),
        ("2 ** 9999999", "cannot be read"),
        ("'a' * 9999999999", "only numbers and tensors"),
        ("x + 1", "`x` has no value here"),
        ("ones(2) + ones(3)", "line 1, column 1"),
        ("ones(2)[5]", "line 1, column 1"),
    ],
)
def test_what_is_no_call_is_refused_with_its_place(text, why):
    with pytest.raises(UsageError, match="line 1, column 1") as refused:
        read(text)

    assert why in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        f"zeros({MAX_NUMBERS}, 2)",
        "eye(100000)",
        "arange(10000000)",
        "full((10000, 10000), 1.)",
        "randn(10000, 10000)",
        "zeros(100000, 1) + zeros(1, 100000)",
    ],
)
def test_what_would_fill_the_memory_is_refused(text):
    with pytest.raises(UsageError, match=f"a tensor may hold at most {MAX_NUMBERS} numbers"):
        read(text)
