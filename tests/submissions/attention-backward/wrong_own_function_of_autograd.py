# expect: rejected
# problem: attention-backward
# mistake: the formulas are right, but autograd carries them: a Function of its own is applied
# diagnosis: uses-autograd
import torch


class Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        p = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1)
        ctx.save_for_backward(q, k, v, p)
        return p @ v

    @staticmethod
    def backward(ctx, g):
        q, k, v, p = ctx.saved_tensors
        d = g @ v.transpose(-1, -2)
        s = p * (d - (p * d).sum(-1, keepdim=True)) / q.shape[-1] ** 0.5
        return s @ k, s.transpose(-1, -2) @ q, p.transpose(-1, -2) @ g


def attention_backward(q, k, v, grad_output):
    q, k, v = (x.clone().requires_grad_(True) for x in (q, k, v))
    output = Attend.apply(q, k, v)
    assert output.shape == grad_output.shape
    output.backward(grad_output)
    return q.grad, k.grad, v.grad
