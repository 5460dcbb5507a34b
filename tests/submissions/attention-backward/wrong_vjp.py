# expect: rejected
# problem: attention-backward
# mistake: torch.func derives it
import torch
from torch.func import vjp


def attention_backward(q, k, v, grad_output):
    def forward(q, k, v):
        return torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1) @ v

    _, pull = vjp(forward, q, k, v)
    return pull(grad_output)
