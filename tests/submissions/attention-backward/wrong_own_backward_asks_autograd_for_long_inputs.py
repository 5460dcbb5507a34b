# expect: rejected
# problem: attention-backward
# mistake: by hand for short inputs, autograd for long ones, behind an own method `backward`
# diagnosis: uses-autograd
import torch


class Attention:
    @staticmethod
    def forward(q, k, v):
        return torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1) @ v

    @classmethod
    def backward(cls, q, k, v, grad):
        if q.shape[-2] > 2:
            with torch.enable_grad():
                leaves = [x.detach().requires_grad_() for x in (q, k, v)]
                return torch.autograd.grad(cls.forward(*leaves), leaves, grad)
        weights = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1)
        d = grad @ v.transpose(-1, -2)
        d = weights * (d - (weights * d).sum(-1, keepdim=True)) / q.shape[-1] ** 0.5
        return d @ k, d.transpose(-1, -2) @ q, weights.transpose(-1, -2) @ grad


def attention_backward(q, k, v, grad_output):
    assert Attention.forward(q, k, v).shape == grad_output.shape
    return Attention.backward(q, k, v, grad_output)
