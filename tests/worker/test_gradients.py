import torch

from mha_judge.worker.gradients import pull_back, require_gradients


class _Doubled(torch.autograd.Function):
    """Twice its input; its backward pass overwrites what it saved."""

    @staticmethod
    def forward(ctx, x):
        ctx.factor = torch.full_like(x, 2.0)
        return 2 * x

    @staticmethod
    def backward(ctx, grad):
        return ctx.factor.mul_(grad)


def test_gradients_are_those_of_the_last_backward_pass_through_a_graph():
    x = torch.tensor([1.0, 3.0])
    inputs = require_gradients([x], {}, ["0"])
    result = x.square()

    found = pull_back(result, [torch.tensor([1.0, 2.0])], inputs, None, again=True)

    assert found["inputs"]["0"].tolist() == [2.0, 12.0]


def test_what_a_backward_pass_overwrites_shows_in_the_next_one():
    x, upstream = torch.ones(2), torch.tensor([1.0, 3.0])
    inputs = require_gradients([x], {}, ["0"])

    once = pull_back(_Doubled.apply(x), [upstream], inputs, None)["inputs"]["0"].clone()
    twice = pull_back(_Doubled.apply(x), [upstream], inputs, None, again=True)["inputs"]["0"]

    assert once.tolist() == [2.0, 6.0]
    assert twice.tolist() != [2.0, 6.0]
