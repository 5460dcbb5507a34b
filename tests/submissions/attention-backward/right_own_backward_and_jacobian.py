# expect: accepted
# problem: attention-backward
# the natural design: an own class with forward, backward and jacobian, made sure to have no graph
import math

import torch


class SoftmaxAttention:
    def __init__(self, width):
        self.scale = 1.0 / math.sqrt(width)

    def forward(self, q, k, v):
        self.q, self.k, self.v = q, k, v
        self.weights = torch.softmax(q @ k.transpose(-1, -2) * self.scale, dim=-1)
        return self.weights @ v

    def jacobian(self, grad_weights):
        inner = (grad_weights * self.weights).sum(dim=-1, keepdim=True)
        return self.weights * (grad_weights - inner)

    def backward(self, grad):
        grad_v = self.weights.transpose(-1, -2) @ grad
        grad_scores = self.jacobian(grad @ self.v.transpose(-1, -2)) * self.scale
        return grad_scores @ self.k, grad_scores.transpose(-1, -2) @ self.q, grad_v


def attention_backward(q, k, v, grad_output):
    torch.set_grad_enabled(False)
    attention = SoftmaxAttention(q.shape[-1])
    output = attention.forward(q, k, v)
    assert output.shape == grad_output.shape and output.grad_fn is None
    assert not output.requires_grad
    return attention.backward(grad_output)
